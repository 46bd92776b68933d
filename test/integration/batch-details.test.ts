import { gzipSync } from 'node:zlib';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { getBatchDetails } from '../../functions/data/batches/batch-details.ts';
import { listJobIds } from '../../functions/data/rows/jobs.ts';
import { sequenceItem } from '../../functions/data/rows/sequences.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { measuredClient } from '../support/measured-client.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { pagedClient } from '../support/paged-client.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { smallLists } from '../support/small-lists.ts';
import { testClient } from '../support/test-client.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, tables } = await ownTables();
const user = 'auth0|alice';
const db = testDb(client, tables, { formats: smallLists(16) });
const writer = writeApi(db);
const jobs = (from: number, count: number) => Array.from({ length: count }, (_, at) => newJob(from + at));
const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

/**
 * Batch 1 has 3 jobs and a sequence. Batch 2 has 100 jobs. Batch 3 has 130 jobs: 30 came later.
 * Batch 4 has none.
 */
beforeAll(async () => {
  const { createBatches, addJobs, recordJobStatus } = writer;
  await createBatches(user, [
    newBatch(1, { jobs: jobs(0, 3) }),
    newBatch(2, { jobs: jobs(100, 100) }),
    newBatch(3, { jobs: jobs(1_000, 100), open: true }),
    newBatch(4, { open: true }),
  ]);
  await addJobs(user, uuid('b', 3), jobs(2_000, 30));
  await recordJobStatus(user, uuid('a', 1), { status: 'CANCELED' });
  const item = sequenceItem(user, uuid('b', 1), gzipSync(sequenceText()));
  await client.send(new PutCommand({ TableName: tables.Sequences, Item: item }));
});

const read = (number: number, userId = user) => getBatchDetails(db, userId, uuid('b', number));
const readThrough = (number: number, intercept: (call: Call) => Promise<Record<string, unknown>>) =>
  getBatchDetails({ ...db, client: interceptedClient(client, intercept) }, user, uuid('b', number));
const isIndexRead = (call: Call) => call.input.IndexName !== undefined;
const itemsOf = async (call: Call) => ((await call.send()).Items ?? []) as Record<string, unknown>[];

describe('getBatchDetails', () => {
  it('shows the batch, its sequence and its jobs in creation order', async () => {
    const batch = await read(1);
    expect(batch).toMatchObject({
      id: uuid('b', 1),
      jobs_count: 3,
      complete: true,
      sequence_builder: sequenceText(),
      job_ids: [uuid('a', 0), uuid('a', 1), uuid('a', 2)],
    });
    expect(batch?.jobs?.map(({ id, status }) => [id, status])).toEqual([
      [uuid('a', 0), 'PENDING'],
      [uuid('a', 1), 'CANCELED'],
      [uuid('a', 2), 'PENDING'],
    ]);
  });

  it('shows up to 100 jobs, and the ids of all', async () => {
    const hundred = await read(2);
    expect(idsOf(hundred?.jobs ?? [])).toEqual(idsOf(jobs(100, 100)));
    expect(hundred?.job_ids).toEqual(idsOf(jobs(100, 100)));
    const more = await read(3);
    expect(more).not.toHaveProperty('jobs');
    expect(more?.job_ids).toEqual(idsOf([...jobs(1_000, 100), ...jobs(2_000, 30)]));
    expect(await read(4)).toMatchObject({ jobs: [], job_ids: [], sequence_builder: null });
  });

  it('knows no batch of another user', async () => {
    expect(await read(1, 'auth0|mallory')).toBeUndefined();
    expect(await read(9)).toBeUndefined();
  });

  it.each([1, 2])('shows the jobs of batch %i although the index knows none of them yet', async (number) => {
    const lagging = readThrough(number, async (call) => (isIndexRead(call) ? { Items: [] } : call.send()));
    expect(await lagging).toEqual(await read(number));
  });

  it('shows the statuses of now although the index still holds earlier ones', async () => {
    const lagging = readThrough(1, async (call) =>
      isIndexRead(call)
        ? { Items: (await itemsOf(call)).map((item) => ({ ...item, status: 'PENDING' })) }
        : call.send(),
    );
    expect(await lagging).toEqual(await read(1));
  });

  it.each([
    ['in another batch', { batch_id: uuid('b', 2) }],
    ['at another place', { creation_order: 7 }],
  ])('shows the jobs as they are although the index holds one %s', async (_, before) => {
    const lagging = readThrough(1, async (call) =>
      isIndexRead(call)
        ? { Items: (await itemsOf(call)).map((item, at) => (at === 1 ? { ...item, ...before } : item)) }
        : call.send(),
    );
    expect(await lagging).toEqual(await read(1));
  });

  it('reads again when jobs are added meanwhile, and never shows less than the batch counts', async () => {
    const { addJobs, createBatch } = writer;
    await createBatch(user, newBatch(5, { jobs: jobs(5_000, 2), open: true }));
    let reads = 0;
    const batch = await readThrough(5, async (call) => {
      const output = await call.send();
      // Between the batch and the number of its jobs.
      if (call.name === 'GetCommand' && call.input.TableName === tables.Batches && ++reads === 1) {
        await addJobs(user, uuid('b', 5), jobs(6_000, 1));
      }
      return output;
    });
    expect(batch?.job_ids).toHaveLength(batch?.jobs_count ?? 0);
  });

  it('shows batch and jobs of one moment when the last job ends meanwhile', async () => {
    const { createBatch, recordJobStatus } = writer;
    await createBatch(user, newBatch(6, { jobs: jobs(7_000, 1) }));
    const ended = Promise.withResolvers<void>();
    let reads = 0;
    const batch = await readThrough(6, async (call) => {
      // The jobs are read once the end is written, the batch before it.
      if (isIndexRead(call)) await ended.promise;
      const output = await call.send();
      if (call.name === 'GetCommand' && call.input.TableName === tables.Batches && ++reads === 1) {
        await recordJobStatus(user, uuid('a', 7_000), { status: 'DONE' });
        ended.resolve();
      }
      return output;
    });
    expect([batch?.status, batch?.jobs?.map(({ status }) => status)]).toEqual(['DONE', ['DONE']]);
  });

  it('costs a few units beside the jobs', async () => {
    const measured = testClient(dynamodbEndpoint);
    const measure = measuredClient(measured);
    const costOf = async (number: number) => {
      const { cost } = await measure(() => getBatchDetails({ ...db, client: measured }, user, uuid('b', number)));
      return [cost.readUnits, cost.depth];
    };
    expect(await costOf(1)).toEqual([4.5, 2]);
    expect(await costOf(4)).toEqual([3, 1]);
  });
});

describe('listJobIds', () => {
  it('is complete however many blocks hold the ids, and empty for what is no batch', async () => {
    const list = (number: number, userId = user) =>
      listJobIds({ ...db, client: pagedClient(client, 3) }, { userId, batchId: uuid('b', number) });
    expect(await list(3)).toEqual(idsOf([...jobs(1_000, 100), ...jobs(2_000, 30)]));
    expect(await list(9)).toEqual([]);
    expect(await list(3, 'auth0|mallory')).toEqual([]);
  });
});
