import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { BatchRow } from '../../functions/schemas/batch.ts';
import type { JobRow } from '../../functions/schemas/job.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { lambdaContext } from '../support/gateway-event.ts';
import { imageOf } from '../support/image-of.ts';
import { itemsOfOwner } from '../support/items-of-owner.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const sink = await startMessageSink();
const { handler } = await import('../../functions/consumers/enqueue-webhooks.ts');
afterAll(sink.stop);
beforeEach(() => {
  sink.messages.length = 0;
  sink.refusing = false;
});

const webhook = 'https://receiver.example.org/hooks';
const alice = 'auth0|alice';
const writes = writeApi(testDb(client, names));
let number = 0;

/** The rows of a new batch of two jobs that are done. */
async function doneBatch(userId: string, given: Parameters<typeof newBatch>[1]) {
  const [batchNumber, first, second] = [++number, ++number, ++number];
  await writes.createBatch(userId, newBatch(batchNumber, { jobs: [newJob(first), newJob(second)], ...given }));
  const results_key = `results/${userId}/${first}.json`;
  await writes.recordJobStatus(userId, uuid('a', first), { status: 'DONE', results_key });
  await writes.recordJobStatus(userId, uuid('a', second), { status: 'ERROR' });
  const [batches, jobs] = await Promise.all([
    itemsOfOwner(client, names.Batches, userId),
    itemsOfOwner(client, names.Jobs, userId),
  ]);
  const batch = batches.find(({ id }) => id === uuid('b', batchNumber)) as BatchRow;
  const ofBatch = [first, second].map((each) => jobs.find(({ id }) => id === uuid('a', each)) as JobRow);
  return { batch, jobs: ofBatch as [JobRow, JobRow] };
}

type Row = Readonly<Record<string, unknown>>;

/** The record of a row that has changed, or was written first, as DynamoDB's stream has it. */
function recordOf(row: Row, sequence = 1, before?: Row): DynamoDBRecord {
  return {
    eventID: `event ${sequence}`,
    eventName: 'MODIFY',
    eventSourceARN: 'arn:aws:dynamodb:eu-west-3:1:table/Jobs/stream/x',
    dynamodb: {
      Keys: { user_id: { S: String(row.user_id) }, id: { S: String(row.id) } },
      NewImage: imageOf(row),
      ...(before !== undefined && { OldImage: imageOf(before) }),
      SequenceNumber: String(sequence),
    },
  };
}

const pick = (...Records: DynamoDBRecord[]) => handler({ Records } as DynamoDBStreamEvent, lambdaContext());
const sent = () => sink.messages.map(({ body }) => JSON.parse(body));

describe('enqueueWebhooks', () => {
  it('sends a message for each job and batch that has ended, with the webhook of the batch', async () => {
    const { batch, jobs } = await doneBatch(alice, { webhook });
    const rows = [...jobs, batch].map((row, at) => recordOf({ ...row }, at));
    expect(await pick(...rows)).toEqual({ batchItemFailures: [] });
    const common = { webhook, user_id: alice, batch_id: batch.id, attempts: 0, wait_seconds: 0 };
    const id = expect.stringMatching(/^msg_[0-9a-f-]{36}$/);
    expect(sent()).toHaveLength(3);
    expect(sent()).toEqual(
      expect.arrayContaining([
        {
          ...common,
          id,
          job: { id: jobs[0].id, results_key: jobs[0].results_key },
          status: 'DONE',
          updated_at: jobs[0].updated_at,
        },
        { ...common, id, job: { id: jobs[1].id, results_key: null }, status: 'ERROR', updated_at: jobs[1].updated_at },
        { ...common, id, job: null, status: 'DONE', updated_at: batch.updated_at },
      ]),
    );
    expect(new Set(sink.messages.map(({ queue }) => queue))).toEqual(new Set(['Webhooks']));
    expect(new Set(sent().map((message) => message.id)).size).toBe(3);
  });

  it('marks the jobs of batches with a webhook, and no others, for the filter of the stream', async () => {
    const [marked, unmarked] = [await doneBatch(alice, { webhook }), await doneBatch(alice, { webhook: null })];
    expect(marked.jobs.map((job) => job.has_webhook)).toEqual([true, true]);
    for (const job of unmarked.jobs) expect(job).not.toHaveProperty('has_webhook');
  });

  it('sends a message when the status changed, also from one final status to another', async () => {
    const { batch } = await doneBatch(alice, { webhook });
    for (const [before, after] of [
      [undefined, 'DONE'],
      ['PENDING', 'ERROR'],
      ['CANCELED', 'DONE'],
      ['DONE', 'DONE'],
      ['ERROR', 'ERROR'],
    ]) {
      await pick(
        recordOf({ ...batch, status: after }, 1, before === undefined ? before : { ...batch, status: before }),
      );
    }
    expect(sent().map(({ status }) => status)).toEqual(['DONE', 'ERROR', 'DONE']);
  });

  it('marks a message that comes late: its batch may have been erased', async () => {
    const { batch } = await doneBatch(alice, { webhook });
    const changedBefore = (seconds: number) => {
      const record = recordOf({ ...batch });
      return { ...record, dynamodb: { ...record.dynamodb, ApproximateCreationDateTime: Date.now() / 1_000 - seconds } };
    };
    await pick(changedBefore(5));
    await pick(changedBefore(120));
    expect(sent()).toMatchObject([{}, { waiting_since: expect.stringMatching(/Z$/) }]);
    expect(sent()[0]).not.toHaveProperty('waiting_since');
  });

  it('passes over other changes of rows that have ended, also if they break the schema', async () => {
    const { batch, jobs } = await doneBatch(alice, { webhook });
    const broken = { ...jobs[0], batch_id: 'none' };
    const records = [recordOf({ ...batch, tags: 'new' }, 1, { ...batch }), recordOf(broken, 2, broken)];
    expect(await pick(...records)).toEqual({ batchItemFailures: [] });
    expect(sink.messages).toEqual([]);
  });

  it('gives the same end the same id for each record, and another end another', async () => {
    const { jobs } = await doneBatch(alice, { webhook });
    const [job] = jobs;
    await pick(recordOf({ ...job }));
    await pick(recordOf({ ...job, rev: 9, updated_at: '2026-12-01T00:00:00.000000Z' }));
    await pick(recordOf({ ...job, status: 'CANCELED' }));
    const [first, again, other] = sent().map(({ id }) => id);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  it.each([null, 'http://receiver.example.org/', 'notify me', 'https://10.0.0.1/', 'https://localhost/'])(
    'sends nothing for the webhook %s',
    async (given) => {
      const { batch, jobs } = await doneBatch(alice, { webhook: given });
      expect(await pick(...jobs.map((job) => recordOf({ ...job })))).toEqual({ batchItemFailures: [] });
      if (given !== null) await pick(recordOf({ ...batch }));
      expect(sent()).toEqual([]);
    },
  );

  it('groups messages by their owner, without showing who it is', async () => {
    const ofAlice = await doneBatch(alice, { webhook });
    const ofBob = await doneBatch('auth0|bob', { webhook });
    await pick(...[...ofAlice.jobs, ...ofBob.jobs].map((job, at) => recordOf({ ...job }, at)));
    const groups = Map.groupBy(sink.messages, ({ groupId }) => groupId);
    expect([...groups.values()].map((messages) => messages.length)).toEqual([2, 2]);
    for (const group of groups.keys()) expect(group).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('reads the webhook of another owner for no job', async () => {
    const { jobs } = await doneBatch(alice, { webhook });
    await pick(recordOf({ ...jobs[0], user_id: 'auth0|mallory' }));
    expect(sent()).toEqual([]);
  });

  it('lets records whose messages were not taken come again', async () => {
    const { jobs } = await doneBatch(alice, { webhook });
    sink.refusing = true;
    const answer = await pick(recordOf({ ...jobs[0] }, 7), recordOf({ ...jobs[1] }, 8));
    expect(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier).sort()).toEqual(['7', '8']);
  });

  it('makes a dead letter of a row that breaks its schema, and goes on', async () => {
    const { jobs } = await doneBatch(alice, { webhook });
    const broken = recordOf({ ...jobs[0], status: 'LOST' }, 1);
    expect(await pick(broken, recordOf({ ...jobs[1] }, 2))).toEqual({ batchItemFailures: [] });
    const messages = sink.messages.toSorted((left, right) => (left.queue < right.queue ? -1 : 1));
    expect(messages.map(({ queue, attributes }) => [queue, attributes])).toEqual([
      ['Webhooks', {}],
      ['Webhooks-dead-letters', { reason: 'CorruptData: The row breaks its schema.' }],
    ]);
    expect(JSON.parse(messages[1]!.body).keys.id.S).toBe(jobs[0].id);
  });
});
