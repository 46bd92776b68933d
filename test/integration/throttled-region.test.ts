/**
 * A region's DynamoDB refuses nearly every call for ten minutes, and recovers. Users, workers and
 * machines go on as the documentation says: all on one clock of the test's own.
 */

import { randomUUID } from 'node:crypto';
import type { DynamoDBRecord } from 'aws-lambda';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { otherFunctions } from '../../functions/other-functions.ts';
import type { RouteName } from '../../functions/routes.ts';
import { tables } from '../../functions/tables.ts';
import { randomNumbers } from '../../infra/local/demo/seeded-random.ts';
import { readPattern } from '../../infra/local/template/record-pattern.ts';
import { type Answer, ask } from '../support/ask.ts';
import { consumedQueues, contextAt } from '../support/consumed-queues.ts';
import { contention } from '../support/faults.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import type { GatewayRequest } from '../support/gateway-event.ts';
import { imageOf } from '../support/image-of.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { batchesAndJobs, soundRows } from '../support/owner-rows.ts';
import { startResultsStore } from '../support/results-store.ts';
import { startSecrets } from '../support/secrets.ts';
import { seed } from '../support/seed.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const { client, names } = await functionEnvironment();
const [sink, results, secrets, receiver] = await Promise.all([
  startMessageSink(),
  startResultsStore(),
  startSecrets(client, names),
  startWebhookReceiver(),
]);
afterAll(async () => {
  vi.doUnmock('../../functions/runtime/clock.ts');
  await Promise.all([sink, results, secrets, receiver].map(({ stop }) => stop()));
});

const random = randomNumbers(seed);
const begin = Date.now();
let elapsed = 0;
/** What sleeps lets the time pass at once. */
const clock = {
  now: () => begin + Math.floor(elapsed),
  elapsed: () => elapsed,
  async sleep(milliseconds: number) {
    elapsed += milliseconds;
  },
};

const { throttling, 'an exceeded throughput': exceeded, 'unprocessed keys': unprocessed } = contention;
const { 'a throttled item': throttledItem, 'an exceeded throughput of an item': exceededItem } = contention;
const refusals = {
  ofAny: [throttling!, exceeded!],
  TransactWriteCommand: [throttledItem!, exceededItem!],
  BatchGetCommand: [unprocessed!],
};
const usualShare = 0.97;
const outage = { isOn: false, refused: 0, share: usualShare, afterTransactions: Number.POSITIVE_INFINITY };
const region = interceptedClient(client, async (call) => {
  if (outage.isOn && random() < outage.share) {
    outage.refused += 1;
    const kinds = [...refusals.ofAny, ...(refusals[call.name as keyof typeof refusals] ?? [])];
    return kinds[Math.floor(random() * kinds.length)]!.strike(call);
  }
  const answer = await call.send();
  if (call.name === 'TransactWriteCommand') {
    addRecords(call);
    outage.afterTransactions -= 1;
    outage.isOn ||= outage.afterTransactions < 0;
  }
  return answer;
});

/** The records of ended rows that wait in the streams, and the last image of each row. */
const records: DynamoDBRecord[] = [];
const images = new Map<string, ReturnType<typeof imageOf>>();
const patterns = [...tables.Batches.stream.patterns, ...tables.Jobs.stream.patterns].map((pattern) =>
  readPattern(JSON.stringify(pattern)),
);

function addRecords({ input }: Call) {
  for (const { Put } of input.TransactItems as { Put?: { TableName: string; Item: Record<string, unknown> } }[]) {
    if (Put === undefined || ![names.Batches, names.Jobs].includes(Put.TableName)) continue;
    const [key, NewImage] = [`${Put.Item.user_id} ${Put.Item.id}`, imageOf(Put.Item)];
    const OldImage = images.get(key);
    images.set(key, NewImage);
    const SequenceNumber = randomUUID();
    const dynamodb = { NewImage, ...(OldImage && { OldImage }), SequenceNumber } as DynamoDBRecord['dynamodb'] & object;
    const record = { eventID: SequenceNumber, eventName: 'MODIFY', dynamodb } as const;
    if (patterns.some((matches) => matches(record as never))) records.push(record);
  }
}

vi.stubEnv('WEBHOOK_REACH', 'loopback');
vi.resetModules();
vi.doMock('../../functions/runtime/clock.ts', () => ({ systemClock: clock }));
vi.doMock('../../functions/data/dynamodb/client.ts', () => ({ documentClient: () => region }));
vi.doUnmock('../../functions/data/dynamodb/write-pace.ts');
const { handler: enqueueWebhooks } = await import('../../functions/consumers/enqueue-webhooks.ts');
const { handler: measureQueues } = await import('../../functions/schedules/measure-queues.ts');
const queues = await consumedQueues(sink, clock);

/** Records come again from the first that failed on. */
async function readStreams() {
  if (records.length === 0) return;
  const batch = records.slice(0, 100);
  const { batchItemFailures } = await enqueueWebhooks(
    { Records: batch },
    contextAt(clock, otherFunctions.enqueueWebhooks),
  );
  const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  const first = batch.findIndex(({ dynamodb }) => failed.has(dynamodb!.SequenceNumber!));
  records.splice(0, first < 0 ? batch.length : first);
}

const refused = new Set<RouteName>();
/** Calls as users and machines do. An answer is right, or says when to come again. */
async function call(name: RouteName, request: GatewayRequest): Promise<Answer> {
  const answer = await ask(name, request);
  if (answer.status === 429) {
    expect(Number(answer.headers['Retry-After'])).toBeGreaterThan(0);
    expect(outage.isOn, `${name} is refused: ${JSON.stringify(answer.data)}`).toBe(true);
    refused.add(name);
  }
  return answer;
}

/** Does one thing, and returns after how many seconds it does the next; undefined: it is done. */
type Step = () => Promise<number | undefined>;
/** In seconds, where the call was refused for now. */
const retryAfter = ({ status, headers }: Answer) => (status === 429 ? Number(headers['Retry-After']) : undefined);

const device = { userId: 'machines', scope: 'device:*' };
const newUser = () => `auth0|${randomUUID()}`;
const users = [newUser(), newUser(), newUser()];
const [first] = users as [string];

/** Creates batches, each by a key of its own, and looks at their list. */
function userOf(userId: string): Step {
  const ids: string[] = [];
  let attempts = 0;
  return async () => {
    const listed = await call('listBatches', { userId, query: { device_type: 'FRESNEL', order_by_direction: 'ASC' } });
    if (listed.status === 200) expect(listed.data.map(({ id }: { id: string }) => id)).toEqual(ids);
    if (ids.length === 3) return undefined;
    const body = {
      ...{ project_id: uuid('c', 1), device_type: 'FRESNEL', sequence_builder: sequenceText(), webhook: receiver.url },
      jobs: [{ runs: 10 }, { runs: 20 }],
    };
    const created = await call('createBatch', { userId, body, headers: { 'Idempotency-Key': `${ids.length}` } });
    attempts += 1;
    const wait = retryAfter(created);
    if (wait !== undefined) return wait * 2 ** Math.min(5, attempts);
    expect(created.status).toBe(200);
    attempts = 0;
    ids.push(created.data.id);
    return 40;
  };
}

interface Held {
  readonly lease: string;
  job: string;
  since: number;
}

/** Jobs that were reported, each with the leases under which the report was taken. */
const reported = new Map<string, Set<string>>();

/** A worker as docs/guides/machines.md describes it; its jobs take 30 s. One dies in the outage. */
function workerOf(worker: string): Step {
  let held: Held | undefined;
  return async () => {
    if (worker === 'dies' && outage.isOn && held !== undefined) return undefined;
    if (held === undefined) {
      const claim = await call('claimBatch', { ...device, path: { device_type: 'FRESNEL' }, body: { worker } });
      if (claim.status !== 200 || claim.data === null) return Number(claim.headers['Retry-After']) * 3;
      held = { lease: claim.data.lease, job: claim.data.job.id, since: clock.now() };
      return 0;
    }
    const { lease, job, since } = held;
    const isDone = clock.now() - since >= 30_000;
    const answer = isDone
      ? await call('reportJob', { ...device, path: { lease, job_id: job }, body: { status: 'DONE' } })
      : await call('extendLease', { ...device, path: { lease }, body: { job_id: job } });
    const wait = retryAfter(answer);
    if (wait !== undefined) return wait * 5;
    if (answer.status === 409) {
      expect(answer.data.reason).toBe('lease_lost');
      held = undefined;
      return 1;
    }
    expect(answer.status).toBe(200);
    if (!isDone) return 20;
    reported.set(job, (reported.get(job) ?? new Set()).add(lease));
    held = answer.data.job === null ? undefined : { lease, job: answer.data.job.id, since: clock.now() };
    return 1;
  };
}

/** A control system that runs batches of its own, and reports them by events. */
function controlSystem(): Step {
  let number = 0;
  return async () => {
    const at = number++;
    const [id, job] = [newBatch(at).id, newJob(at)];
    const time = new Date(clock.now()).toISOString();
    const events = [
      { type: 'batch.created', data: newBatch(at, { device_type: 'CONTROL', jobs: [job], webhook: receiver.url }) },
      { type: 'job.updated', data: { job_id: job.id, status: 'DONE' } },
      { type: 'batch.updated', data: { batch_id: id, open: false } },
    ].map((event, place) => ({ id: `${at} ${place}`, user_id: first, time, ...event }));
    for (const event of events) {
      const fifo = { groupId: first, deduplicationId: event.id };
      queues.send({ queue: 'Events', body: JSON.stringify(event), attributes: {}, ...fifo });
    }
    return at === 9 ? undefined : 90;
  };
}

describe('a region that refuses nearly every call for ten minutes', () => {
  it('answers right or 429, and leaves everything done once, and nothing as a dead letter', async () => {
    const jobs = Array.from({ length: 150 }, () => ({}));
    const body = { project_id: uuid('c', 1), device_type: 'NOBODY', sequence_builder: sequenceText(), jobs };
    const large = (await call('createBatch', { userId: first, body })).data.id as string;

    const deliver: Step = async () => {
      await readStreams();
      await queues.deliver();
      return 15;
    };
    const measure: Step = async () => {
      await measureQueues({} as never, contextAt(clock, otherFunctions.measureQueues)).catch((error) => {
        expect(error.status).toBe(429);
      });
      return 60;
    };
    const startOutage: Step = async () => {
      // No second transaction may pass by chance.
      Object.assign(outage, { share: 1, afterTransactions: 0 });
      // Its user does not repeat it.
      expect(await call('cancelBatch', { userId: first, path: { batch_id: large } })).toMatchObject({ status: 429 });
      outage.share = usualShare;
      return undefined;
    };
    const endOutage: Step = async () => {
      Object.assign(outage, { isOn: false, afterTransactions: Number.POSITIVE_INFINITY });
      return undefined;
    };
    const at = (seconds: number, ...steps: Step[]) =>
      steps.map((step) => ({ at: clock.now() + 1_000 * seconds, step }));
    const agenda = [
      ...at(0, ...users.map(userOf), workerOf('works'), workerOf('dies'), controlSystem(), deliver, measure),
      ...at(60, startOutage),
      ...at(90, workerOf('comes in the outage')),
      ...at(660, endOutage),
    ];
    const isBusy = () => agenda.length > 5 || queues.size() > 0 || records.length > 0;
    while (isBusy() || !(await isEveryBatchOver())) {
      expect(elapsed, 'milliseconds').toBeLessThan(3 * 3_600_000);
      agenda.sort((one, other) => one.at - other.at);
      const next = agenda.shift()!;
      elapsed = Math.max(elapsed, next.at - begin);
      const seconds = await next.step();
      if (seconds !== undefined) agenda.push({ at: clock.now() + 1_000 * seconds, step: next.step });
    }
    expect(outage.refused).toBeGreaterThan(100);
    expect([...refused]).toEqual(expect.arrayContaining(['createBatch', 'listBatches', 'claimBatch', 'reportJob']));
    expect(queues.deadLetters).toEqual([]);

    const ends: string[] = [];
    for (const userId of users) {
      const { batches, jobs } = await soundRows(client, names, userId);
      expect(batches.map(({ id, status }) => [id, status])).toEqual(
        batches.map(({ id }) => [id, id === large ? 'CANCELED' : 'DONE']),
      );
      const run = jobs.filter(({ fence }) => fence !== undefined);
      expect(run.map(({ id }) => reported.get(id)?.size)).toEqual(Array(6).fill(1));
      ends.push(...[...batches, ...jobs].filter(hasWebhook).map(({ id, status }) => `${id} ${status}`));
    }
    expect(reported.size).toBe(6 * users.length);
    const ids = new Map<string, Set<unknown>>();
    for (const { headers, body } of receiver.messages) {
      const { data } = JSON.parse(body.toString());
      const end = `${data.job_id ?? data.batch_id} ${data.status}`;
      ids.set(end, (ids.get(end) ?? new Set()).add(headers['webhook-id']));
    }
    expect([...ids.keys()].sort()).toEqual(ends.sort());
    expect([...ids.values()].filter((ofEnd) => ofEnd.size > 1)).toEqual([]);
  });
});

function hasWebhook(row: object): boolean {
  const { webhook, has_webhook } = row as { webhook?: string | null; has_webhook?: boolean };
  return has_webhook === true || typeof webhook === 'string';
}

async function isEveryBatchOver(): Promise<boolean> {
  const all = await Promise.all(users.map((userId) => batchesAndJobs(client, names, userId)));
  return all.every(({ batches }) => batches.every(({ end_datetime }) => end_datetime !== null));
}
