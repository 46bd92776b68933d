import { randomUUID } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { rebatch as rebatchJobs } from '../../functions/data/batches/rebatches.ts';
import { sequenceItem } from '../../functions/data/rows/sequences.ts';
import type { BatchWithJobs } from '../../functions/schemas/batch.ts';
import { Claims } from '../../functions/schemas/claims.ts';
import { ask } from '../support/ask.ts';
import { dyingClient } from '../support/dying-client.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { itemsOfOwner } from '../support/items-of-owner.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { batchesAndJobs, ownerRows, recountOf } from '../support/owner-rows.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const sink = await startMessageSink();
afterAll(() => sink.stop());

const db = testDb(client, names);
const { createBatch, recordJobStatus } = writeApi(db);
const source = uuid('b', 1);
let user: string;
beforeEach(() => {
  user = `auth0|${randomUUID()}`;
  sink.messages.length = 0;
});

const rebatch = (
  query = '',
  { key, batch_id = source, userId = user }: { key?: string; batch_id?: string; userId?: string } = {},
) => {
  const headers = key === undefined ? {} : { 'Idempotency-Key': key };
  return ask('rebatch', { userId, path: { batch_id }, query, headers });
};

/**
 * Four jobs: DONE, ERROR with a sequence of its own, PENDING with variables, PENDING without runs.
 */
async function prepare() {
  const content = {
    tags: ['a'],
    configuration: { dt: 10 },
    backend_configuration: '{"x":Infinity}',
    webhook: 'http://x',
  };
  const jobs = [
    newJob(1, { runs: 10 }),
    newJob(2, { runs: 20 }),
    newJob(3, { runs: 30, variables: { omega: [1.5] } }),
    newJob(4, { runs: null }),
  ];
  await createBatch(user, newBatch(1, { ...content, jobs }));
  await recordJobStatus(user, uuid('a', 1), { status: 'DONE' });
  await recordJobStatus(user, uuid('a', 2), { status: 'ERROR', errors: ['x'] });
  for (const [id, name] of [
    [source, 'shared'],
    [uuid('a', 2), 'own'],
  ] as const) {
    const Item = sequenceItem(user, id, gzipSync(sequenceText({ name })));
    await client.send(new PutCommand({ TableName: names.Sequences, Item }));
  }
}
const parents = ({ jobs }: BatchWithJobs) => jobs?.map(({ parent_id }) => parent_id);
const jobIds = (...numbers: number[]) => numbers.map((number) => uuid('a', number));

describe('POST /api/v1/batches/{batch_id}/rebatch', () => {
  it('creates a batch of all jobs, with their runs, variables and sequences', async () => {
    await prepare();
    const before = await ownerRows(client, names, user);
    const { status, data }: { status: number; data: BatchWithJobs } = await rebatch();
    expect(status).toBe(200);
    const same = ['project_id', 'device_type', 'queue_priority', 'webhook', 'backend_configuration', 'tags'] as const;
    for (const name of same) expect(data[name]).toEqual(before.batches[0]![name]);
    expect(data).toMatchObject({
      parent_id: source,
      status: 'PENDING',
      open: false,
      jobs_count: 4,
      configuration: { dt: 10 },
    });
    expect(data.sequence_builder).toBe(sequenceText({ name: 'shared' }));
    expect(parents(data)).toEqual(jobIds(1, 2, 3, 4));
    expect(
      data.jobs!.map(({ runs, variables, status, errors, origin }) => [runs, variables, status, errors, origin]),
    ).toEqual([
      [10, null, 'PENDING', null, 'CLIENT'],
      [20, null, 'PENDING', null, 'CLIENT'],
      [30, { omega: [1.5] }, 'PENDING', null, 'CLIENT'],
      [null, null, 'PENDING', null, 'CLIENT'],
    ]);
    const sequences = new Map(
      (await itemsOfOwner(client, names.Sequences, user)).map(({ id, v }) => [
        id,
        gunzipSync(v as Uint8Array).toString(),
      ]),
    );
    expect(sequences.size).toBe(4);
    expect(sequences.get(data.id)).toBe(sequenceText({ name: 'shared' }));
    expect(sequences.get(data.jobs![1]!.id)).toBe(sequenceText({ name: 'own' }));
    const after = await ownerRows(client, names, user);
    expect([after.batches[0], ...after.jobs.slice(0, 4)]).toEqual([before.batches[0], ...before.jobs]);
    expect(await recountOf(client, names, user)).toEqual([]);
  });

  it.each([
    ['status=ERROR&status=PENDING', [2, 3, 4]],
    ['status=DONE', [1]],
    [`id=${uuid('a', 4)}&id=${uuid('a', 1)}&id=${uuid('a', 9)}`, [1, 4]],
    ['min_runs=20&max_runs=30', [2, 3]],
    ['start_date=2020-01-01', [1, 2, 3, 4]],
  ])('chooses by %s', async (query, chosen) => {
    await prepare();
    expect(parents((await rebatch(query)).data)).toEqual(jobIds(...chosen));
  });

  it('refuses an open batch, a choice of no job, and what is not there or another’s, and creates nothing', async () => {
    await prepare();
    await createBatch(user, newBatch(2, { open: true, jobs: [newJob(7)] }));
    const rows = await ownerRows(client, names, user);
    expect((await rebatch('', { batch_id: uuid('b', 2) })).status).toBe(409);
    expect((await rebatch('status=CANCELED')).status).toBe(422);
    expect((await rebatch('end_date=2020-01-01')).status).toBe(422);
    expect((await rebatch('', { batch_id: uuid('b', 9) })).status).toBe(404);
    expect((await rebatch('', { userId: 'auth0|mallory' })).status).toBe(404);
    expect(await ownerRows(client, names, user)).toEqual(rows);
  });

  it('answers a repeated key with the same batch, and refuses the key for another choice', async () => {
    await prepare();
    const first = await rebatch('status=DONE', { key: 'again' });
    expect(await rebatch('status=DONE', { key: 'again' })).toEqual(first);
    expect((await rebatch('status=ERROR', { key: 'again' })).status).toBe(409);
    expect((await batchesAndJobs(client, names, user)).batches).toHaveLength(2);
  });

  it('answers a repeated key with the same batch when the jobs have changed since', async () => {
    await prepare();
    const first = await rebatch('status=PENDING', { key: 'again' });
    expect(parents(first.data)).toEqual(jobIds(3, 4));
    await recordJobStatus(user, uuid('a', 3), { status: 'DONE' });
    expect(await rebatch('status=PENDING', { key: 'again' })).toEqual(first);
    await recordJobStatus(user, uuid('a', 4), { status: 'DONE' });
    expect(await rebatch('status=PENDING', { key: 'again' })).toEqual(first);
    expect((await rebatch('status=PENDING', { key: 'other' })).status).toBe(422);
    const [job] = first.data.jobs!;
    await recordJobStatus(user, job!.id, { status: 'ERROR' });
    expect((await rebatch('status=PENDING', { key: 'again' })).data.jobs).toMatchObject([
      { id: job!.id, status: 'ERROR' },
      { status: 'PENDING' },
    ]);
    expect((await batchesAndJobs(client, names, user)).batches).toHaveLength(2);
  });

  const repeat = (through: typeof client, idempotencyKey: string) =>
    rebatchJobs(
      { ...db, client: through },
      { userId: user, idempotencyKey, claims: Claims.parse({}) },
      { batchId: source, query: { status: ['PENDING'] } },
    );

  it('completes what a call with the key has begun, with the jobs that it had chosen', async () => {
    await createBatch(user, newBatch(1, { jobs: Array.from({ length: 150 }, (_, at) => newJob(at)) }));
    await recordJobStatus(user, uuid('a', 7), { status: 'DONE' });
    await expect(repeat(dyingClient(client, 1).client, 'k')).rejects.toThrow('killed');
    const { batches, jobs } = await batchesAndJobs(client, names, user);
    const begun = jobs.filter(({ batch_id }) => batch_id === batches.at(-1)!.id);
    expect(batches.at(-1)).toMatchObject({ creating: true });
    expect(begun.length).toBeLessThan(149);
    // One that was begun with, and one that was not.
    for (const number of [3, 149]) await recordJobStatus(user, uuid('a', number), { status: 'DONE' });
    const completed = await repeat(client, 'k');
    expect(completed).toMatchObject({ id: batches.at(-1)!.id, jobs_count: 149 });
    const after = await ownerRows(client, names, user);
    expect(after.batches.at(-1)).not.toHaveProperty('creating');
    const chosen = after.jobs.filter(({ batch_id }) => batch_id === completed.id).map(({ parent_id }) => parent_id);
    expect(chosen).toEqual(jobs.slice(0, 150).flatMap(({ id }, at) => (at === 7 ? [] : [id])));
    expect(await repeat(client, 'k')).toEqual(completed);
    expect(await recountOf(client, names, user)).toEqual([]);
  });

  it('answers with the batch that the same call makes at the same time, of other jobs', async () => {
    await prepare();
    let made: BatchWithJobs | undefined;
    const disturbed = interceptedClient(client, async (call) => {
      const output = await call.send();
      // After the jobs were read that match.
      if (call.name === 'BatchGetCommand' && names.Jobs in (call.input.RequestItems as object) && made === undefined) {
        await recordJobStatus(user, uuid('a', 3), { status: 'DONE' });
        made = await repeat(client, 'k');
      }
      return output;
    });
    expect(await repeat(disturbed, 'k')).toEqual(made);
    expect(made!.jobs).toHaveLength(1);
    expect(await recountOf(client, names, user)).toEqual([]);
  });

  it('runs more jobs again than a transaction holds, and announces them first', async () => {
    await createBatch(user, newBatch(1, { jobs: Array.from({ length: 150 }, (_, at) => newJob(at)) }));
    const { status, data } = await rebatch();
    expect(status).toBe(200);
    expect(data).toMatchObject({ jobs_count: 150, parent_id: source, sequence_builder: null });
    expect(data).not.toHaveProperty('jobs');
    expect(JSON.parse(sink.messages[0]!.body)).toEqual({ user_id: user, batch_id: data.id });
    const { batches, jobs } = await batchesAndJobs(client, names, user);
    expect(batches[1]).not.toHaveProperty('creating');
    expect(jobs.slice(150).map(({ parent_id }) => parent_id)).toEqual(jobs.slice(0, 150).map(({ id }) => id));
    expect(await recountOf(client, names, user)).toEqual([]);
  });
});
