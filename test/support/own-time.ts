/**
 * What functions do when time runs out is the subject of few tests. In all others they have as much
 * as they need: what a test finds must not depend on how busy the machine is.
 */

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { vi } from 'vitest';
import type { PaceLimits, WritePace } from '../../functions/data/dynamodb/write-pace.ts';
import type { Clock } from '../../functions/runtime/clock.ts';

const client = '../../functions/data/dynamodb/client.ts';
const writePace = '../../functions/data/dynamodb/write-pace.ts';
const objects = '../../functions/data/aws/bucket-objects.ts';
const patience = 600_000;
type BucketObjects = typeof import('../../functions/data/aws/bucket-objects.ts');
/**
 * Loads packages as they are. Vitest's own way to them, the factory's argument, was seen to give an
 * empty module, where many modules imported the replacement at the same time.
 */
const load = createRequire(import.meta.url);

/**
 * Functions that are loaded from now on wait for DynamoDB, S3 and SQS until they answer. A call of
 * several transactions is not slowed down, and ends when DynamoDB has refused it so often, not
 * after so long. The limits of a pace that a test makes hold.
 */
export function usePatience() {
  for (const file of [client, writePace, objects]) {
    if (!existsSync(new URL(file, import.meta.url))) throw new Error(`Nothing is replaced: there is no ${file}.`);
  }
  vi.doMock(writePace, async () => {
    const own: { WritePace: typeof WritePace } = await import(`${writePace}?own`);
    return { WritePace: patientPace(own.WritePace) };
  });
  vi.doMock(client, async () => {
    // By another address, for the same reason.
    const { documentClient }: typeof import('../../functions/data/dynamodb/client.ts') = await import(`${client}?own`);
    return { documentClient: () => documentClient(patience) };
  });
  vi.doMock(objects, async () => {
    const own: BucketObjects = await import(`${objects}?own`);
    return { ...own, bucketObjects: (name: string) => own.bucketObjects(name, patience) };
  });
  vi.doMock('@aws-sdk/client-s3', () => {
    const sdk: typeof import('@aws-sdk/client-s3') = load('@aws-sdk/client-s3');
    return { ...sdk, S3Client: patient(sdk.S3Client) };
  });
  vi.doMock('@aws-sdk/client-sqs', () => {
    const sdk: typeof import('@aws-sdk/client-sqs') = load('@aws-sdk/client-sqs');
    return { ...sdk, SQSClient: patient(sdk.SQSClient) };
  });
}

function patientPace(Own: typeof WritePace): typeof WritePace {
  const endless = { unitsPerSecond: Infinity, forAll: Infinity, most: Infinity };
  return class extends Own {
    readonly #maxRefusals: number;
    #refusals = 0;

    constructor(clock: Clock, limits?: PaceLimits) {
      super(clock, { ...endless, ...limits });
      this.#maxRefusals = limits === undefined ? 5 : Infinity;
    }

    override made(units: number) {
      this.#refusals = 0;
      super.made(units);
    }

    override throttled() {
      this.#refusals += 1;
      super.throttled();
    }

    override isOver(milliseconds?: number) {
      return this.#refusals >= this.#maxRefusals || super.isOver(milliseconds);
    }
  };
}

/** The SDK's client, with this patience whatever it is configured with. */
function patient<Client extends new (config: never) => object>(client: Client): Client {
  const requestHandler = { requestTimeout: patience, socketTimeout: patience };
  return new Proxy(client, {
    construct: (target, [config]) => Reflect.construct(target, [{ ...config, requestHandler }]),
  });
}

/** Functions that are loaded from now on give DynamoDB up as they do on AWS. */
export function useOwnTimeouts() {
  vi.doUnmock(client);
}

/** The status by which a server in DynamoDB's place says that this request gets no answer. */
export const noAnswer = 599;

/**
 * For functions that are loaded from now on, a request that gets no answer is one whose time has
 * run out, at once. All others are waited for.
 */
export function useNoAnswers() {
  vi.doMock(client, async () => {
    const { documentClient }: typeof import('../../functions/data/dynamodb/client.ts') = await import(`${client}?own`);
    return {
      documentClient() {
        const made = documentClient(patience);
        const { requestHandler } = made.config;
        const handle = requestHandler.handle.bind(requestHandler);
        requestHandler.handle = async (...request) => {
          const answer = await handle(...request);
          if (answer.response.statusCode !== noAnswer) return answer;
          throw Object.assign(new Error('No answer in time'), { name: 'TimeoutError' });
        };
        return made;
      },
    };
  });
}

/**
 * Functions that are loaded from now on give up the objects that they ask S3 for as they do on AWS,
 * where they are `isStruck`, and wait for all others.
 */
export function useOwnTimeoutsOfS3(isStruck: (key: string) => boolean) {
  vi.doMock(objects, async () => {
    const own: BucketObjects = await import(`${objects}?own`);
    const bucketObjects: BucketObjects['bucketObjects'] = (name) => {
      const [hasty, patient] = [own.bucketObjects(name), own.bucketObjects(name, patience)];
      return (call) => (isStruck(call.key) ? hasty(call) : patient(call));
    };
    return { ...own, bucketObjects };
  });
}
