import { createRequire } from 'node:module';
import { vi } from 'vitest';

const client = '../../functions/data/dynamodb/client.ts';
const patience = 600_000;
/**
 * Loads packages as they are. Vitest's own way to them, the factory's argument, was seen to give an
 * empty module, where many modules imported the replacement at the same time.
 */
const load = createRequire(import.meta.url);

/** Functions that are loaded from now on wait for DynamoDB, S3 and SQS until they answer. */
export function usePatientClients() {
  vi.doMock(client, async () => {
    // By another address, for the same reason.
    const { documentClient }: typeof import('../../functions/data/dynamodb/client.ts') = await import(`${client}?own`);
    return { documentClient: () => documentClient(patience) };
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

/** Functions that are loaded from now on give S3 up as they do on AWS. */
export function useOwnTimeoutsOfS3() {
  vi.doUnmock('@aws-sdk/client-s3');
}
