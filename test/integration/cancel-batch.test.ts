import { describe, expect, it } from 'vitest';
import { cancelBatch, cancelJobs } from '../../functions/data/batches/cancellations.ts';
import { recoverBatch } from '../../functions/data/batches/recovery.ts';
import { CancelJobsQuery } from '../../functions/schemas/job-selection.ts';
import type { BatchStatus } from '../../functions/schemas/values.ts';
import { deep } from '../support/depth.ts';
import { dyingClient, isFinished } from '../support/dying-client.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { ownerRows, soundRows } from '../support/owner-rows.ts';
import { smallLists } from '../support/small-lists.ts';
import { testDb } from '../support/test-db.ts';
import { allResults } from '../support/worker-stack.ts';
import { writeApi } from '../support/write-api.ts';

const { client, tables } = await ownTables();
const rowsPerBlock = 16;
const db = testDb(client, tables, { formats: smallLists(rowsPerBlock) });
const writer = writeApi(db);
const cancel = (userId: string, through = client) =>
  cancelBatch({ ...db, client: through }, { userId, batchId: uuid('b', 1) });
const jobs = (from: number, count: number) => Array.from({ length: count }, (_, at) => newJob(from + at));

const sound = (userId: string) => soundRows(client, tables, userId, rowsPerBlock);
const statuses = (rows: readonly { status: string }[]) => [...new Set(rows.map(({ status }) => status))].sort();

describe('cancelBatch', () => {
  it.each([0, 1, 29, 150])('cancels a batch and its %i jobs, and again changes nothing', async (count) => {
    const user = `cancels-${count}`;
    await writer.createBatch(user, newBatch(1, { jobs: jobs(0, count), open: true }));
    const canceled = await cancel(user);
    expect(canceled).toMatchObject({ status: 'CANCELED', open: false, jobs_count_per_status: { CANCELED: count } });
    expect(canceled.end_datetime).not.toBeNull();
    const rows = await ownerRows(client, tables, user);
    expect(rows.batches).toEqual([canceled]);
    for (const flag of ['canceling', 'creating']) expect(rows.batches[0]).not.toHaveProperty(flag);
    expect(statuses(rows.jobs)).toEqual(count === 0 ? [] : ['CANCELED']);
    expect(await cancel(user)).toEqual(canceled);
    expect(await ownerRows(client, tables, user)).toEqual(rows);
    await sound(user);
  });

  it('leaves a sound start when it dies after each transaction, closed to jobs, and goes on from there', async () => {
    for (let most = 0, finished = false; !finished; most++) {
      const user = `dies after ${most}`;
      await writer.createBatch(user, newBatch(1, { jobs: jobs(0, 100), open: true }));
      finished = await isFinished(cancel(user, dyingClient(client, most).client));
      const { batches } = await sound(user);
      if (most > 0) expect(batches[0]?.open).toBe(false);
      if (most > 0 && !finished) expect(batches[0]).toMatchObject({ canceling: true, status: 'PENDING' });
      expect(await cancel(user)).toMatchObject({ status: 'CANCELED' });
      expect(statuses((await sound(user)).jobs)).toEqual(['CANCELED']);
    }
  });

  it.each<BatchStatus>(['ERROR', 'CANCELED'])('ends all jobs where the batch becomes %s meanwhile', async (status) => {
    const user = `ends meanwhile ${status}`;
    await writer.createBatch(user, newBatch(1, { jobs: jobs(0, 100) }));
    await expect(cancel(user, dyingClient(client, 1).client)).rejects.toThrow('killed');
    const event = { id: 'late', digest: 'late', time: new Date().toISOString().replace('Z', '000Z') };
    await writer.recordBatchStatus(user, uuid('b', 1), { status }, { event });
    const finish = () => recoverBatch(db, allResults, { user_id: user, batch_id: uuid('b', 1) });
    expect(await finish()).toBe(status === 'CANCELED' ? 'canceled' : 'ended otherwise');
    const rows = await sound(user);
    expect(rows.batches).toMatchObject([{ status, jobs_count_per_status: { CANCELED: 100 } }]);
    expect(rows.batches[0]).not.toHaveProperty('canceling');
    expect(await finish()).toBe('finished');
  });

  it('cancels also the jobs that are added while it looks for them', async () => {
    const user = 'added meanwhile';
    const { createBatch, addJobs } = writer;
    await createBatch(user, newBatch(1, { jobs: jobs(0, 3), open: true }));
    let added = 0;
    const disturbed = interceptedClient(client, async (call: Call) => {
      const output = await call.send();
      // After the batch's jobs are read, before anything is written.
      if (call.name === 'QueryCommand' && added++ === 0) await addJobs(user, uuid('b', 1), jobs(10, 2));
      return output;
    });
    expect(await cancel(user, disturbed)).toMatchObject({ jobs_count_per_status: { CANCELED: 5 } });
    expect(statuses((await sound(user)).jobs)).toEqual(['CANCELED']);
  });

  it('agrees with a device that finishes jobs at the same time', async () => {
    const user = 'at the same time';
    const { createBatch, recordJobStatus } = writer;
    const count = deep ? 12 : 5;
    await createBatch(user, newBatch(1, { jobs: jobs(0, count) }));
    // Not the last one: the batch would end by it, and could be canceled no more.
    const finishing = jobs(0, count - 1).map(({ id }) =>
      recordJobStatus(user, id, { status: 'DONE' }).catch(() => undefined),
    );
    const [canceled] = await Promise.all([cancel(user), ...finishing]);
    expect(canceled.status).toBe('CANCELED');
    const rows = await sound(user);
    expect(statuses(rows.jobs)).not.toContain('PENDING');
  });
});

describe('cancelJobs', () => {
  it('reads no job that the query rules out by its runs or its time', async () => {
    const user = 'chooses';
    const many = Array.from({ length: 300 }, (_, at) => newJob(at, { runs: at }));
    const created_at = '2026-03-01T00:00:00.000001Z';
    await writer.createBatch(user, { ...newBatch(1, { jobs: many, open: true }), created_at });
    let read = 0;
    const counting = interceptedClient(client, (call: Call) => {
      const { RequestItems = {} } = call.input as { RequestItems?: Record<string, { Keys: unknown[] }> };
      read += RequestItems[tables.Jobs]?.Keys.length ?? 0;
      return call.send();
    });
    const of = { userId: user, batchId: uuid('b', 1) };
    const ofTime = { start_date: ['2026-03-01T00:00:00.000101Z'], end_date: ['2026-03-01T00:00:00.000105Z'] };
    for (const [given, first, reads] of [
      [{ min_runs: ['200'], max_runs: ['204'] }, 200, 10],
      // And 33 rows around each bound.
      [ofTime, 100, 76],
    ] as const) {
      read = 0;
      const { jobs: canceled } = await cancelJobs({ ...db, client: counting }, of, CancelJobsQuery.parse(given));
      expect(canceled.map(({ runs }) => runs)).toEqual([0, 1, 2, 3, 4].map((at) => first + at));
      // Once to be chosen, and once by the transaction.
      expect(read).toBeLessThanOrEqual(reads);
    }
    expect((await sound(user)).batches[0]?.jobs_count_per_status).toMatchObject({ CANCELED: 10, PENDING: 290 });
  });
});
