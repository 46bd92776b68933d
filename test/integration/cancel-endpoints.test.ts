/**
 * What users cancel, by whole answers. How a cancellation survives a crash: cancel-batch.test.ts.
 */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { RouteName } from '../../functions/routes.ts';
import type { Batch } from '../../functions/schemas/batch.ts';
import type { Job } from '../../functions/schemas/job.ts';
import { ask } from '../support/ask.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import type { GatewayRequest } from '../support/gateway-event.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { batchesAndJobs, type OwnerRows, ownerRows, recountOf, soundRows } from '../support/owner-rows.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const sink = await startMessageSink();
afterAll(() => sink.stop());

const { createBatch, createBatches, recordJobStatus, recordBatchStatus, closeBatch, applyEvents } = writeApi(
  testDb(client, names),
);
const [batchId, jobId] = [uuid('b', 1), uuid('a', 1)];
const jobs = (count: number) => Array.from({ length: count }, (_, at) => newJob(at + 1));
let user: string;
beforeEach(() => {
  user = `auth0|${randomUUID()}`;
  sink.messages.length = 0;
});

const askAs = (route: RouteName, request: GatewayRequest) => ask(route, { userId: user, ...request });
const cancelBatch = async (batch_id = batchId, userId = user) => {
  const { status, data } = await askAs('cancelBatch', { path: { batch_id }, userId });
  return { status, data: data as Batch };
};
const cancelJob = async (job_id = jobId, userId = user) => {
  const { status, data } = await askAs('cancelJob', { path: { job_id }, userId });
  return { status, data: data as Job };
};

const everything = () => ownerRows(client, names, user);
const sound = () => soundRows(client, names, user);

/** Whether the user has what was there before, which was sound then, too. */
async function expectUnchanged(before: OwnerRows) {
  expect(await everything()).toEqual(before);
  expect(await recountOf(client, names, user)).toEqual([]);
}

describe('PATCH /api/v2/batches/{batch_id}/cancel', () => {
  it('closes and cancels a batch with its unfinished jobs; again it changes nothing', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(5), open: true }));
    await recordJobStatus(user, uuid('a', 1), { status: 'DONE' });
    await recordJobStatus(user, uuid('a', 2), { status: 'RUNNING' });
    await recordJobStatus(user, uuid('a', 3), { status: 'CANCELING' });
    await recordJobStatus(user, uuid('a', 5), { status: 'ERROR', errors: ['x'] });
    const { status, data } = await cancelBatch();
    expect(status).toBe(200);
    expect(data).toMatchObject({ id: batchId, status: 'CANCELED', open: false, complete: true });
    expect(data.jobs_count_per_status).toMatchObject({ DONE: 1, ERROR: 1, CANCELED: 3, PENDING: 0 });
    const rows = await everything();
    expect(rows.jobs.map((job) => job.status)).toEqual(['DONE', ...Array(3).fill('CANCELED'), 'ERROR']);
    for (const job of rows.jobs.slice(1)) expect(job.end_timestamp).not.toBeNull();
    expect((await askAs('getBatch', { path: { batch_id: batchId } })).data).toMatchObject(data);
    expect(await cancelBatch()).toEqual({ status, data });
    await expectUnchanged(rows);
    expect(sink.messages).toEqual([]);
  });

  it('refuses a batch that is at another end, and leaves it as it is', async () => {
    const ends = ['DONE', 'ERROR', 'TIMED_OUT'] as const;
    for (const [at, status] of ends.entries()) {
      await createBatch(user, newBatch(at, { jobs: [newJob(2 * at), newJob(2 * at + 1)] }));
      await recordBatchStatus(user, uuid('b', at), { status });
    }
    const rows = await everything();
    for (const at of ends.keys()) expect((await cancelBatch(uuid('b', at))).status).toBe(409);
    await expectUnchanged(rows);
  });

  it('refuses a batch that has ended by itself, and leaves one alone that ended canceled', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(2) }));
    await createBatch(user, newBatch(2, { jobs: [newJob(7)] }));
    for (const job of [1, 2]) await recordJobStatus(user, uuid('a', job), { status: 'DONE' });
    await cancelJob(uuid('a', 7));
    const rows = await everything();
    expect((await cancelBatch()).status).toBe(409);
    expect(await cancelBatch(uuid('b', 2))).toMatchObject({ status: 200, data: { status: 'CANCELED' } });
    await expectUnchanged(rows);
  });

  it('cancels the unfinished jobs of a batch that was canceled as a whole', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(2) }));
    await recordBatchStatus(user, batchId, { status: 'CANCELED' });
    expect((await cancelBatch()).data.jobs_count_per_status).toMatchObject({ CANCELED: 2, PENDING: 0 });
    await sound();
  });

  it('announces a batch of many jobs before it starts, for the service to complete it', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(100), open: true }));
    expect((await cancelBatch()).data).toMatchObject({ status: 'CANCELED', jobs_count_per_status: { CANCELED: 100 } });
    expect(sink.messages).toMatchObject([{ queue: 'Recovery' }]);
    expect(JSON.parse(sink.messages[0]!.body)).toEqual({ user_id: user, batch_id: batchId });
    await sound();
  });

  it('answers 404 for what is not there or another’s', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(1) }));
    const rows = await everything();
    expect((await cancelBatch(batchId, 'auth0|mallory')).status).toBe(404);
    expect((await cancelBatch(jobId)).status).toBe(404);
    expect((await cancelBatch('b1')).status).toBe(422);
    await expectUnchanged(rows);
  });
});

describe('PATCH /api/v2/jobs/{job_id}/cancel', () => {
  it('cancels a job that has not ended; again it changes nothing', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(4) }));
    const answers = new Map<string, Awaited<ReturnType<typeof cancelJob>>>();
    for (const [at, from] of (['PENDING', 'RUNNING', 'CANCELING'] as const).entries()) {
      const job_id = uuid('a', at + 1);
      if (from !== 'PENDING') await recordJobStatus(user, job_id, { status: from });
      const answer = await cancelJob(job_id);
      expect(answer, from).toMatchObject({ status: 200, data: { id: job_id, status: 'CANCELED' } });
      expect(answer.data.end_timestamp, from).not.toBeNull();
      answers.set(job_id, answer);
    }
    const rows = await everything();
    expect(rows.batches).toMatchObject([
      { status: 'PENDING', jobs_count_per_status: { CANCELED: 3, PENDING: 1, RUNNING: 0, CANCELING: 0 } },
    ]);
    for (const [job_id, answer] of answers) {
      expect((await askAs('getJob', { path: { job_id } })).data).toMatchObject(answer.data);
      expect(await cancelJob(job_id)).toEqual(answer);
    }
    await expectUnchanged(rows);
    for (const job_id of answers.keys()) {
      await expect(recordJobStatus(user, job_id, { status: 'DONE' })).rejects.toMatchObject({ status: 409 });
    }
  });

  it('ends a closed batch with its last job', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(2), open: true }));
    await recordJobStatus(user, uuid('a', 2), { status: 'DONE' });
    await cancelJob();
    expect((await sound()).batches).toMatchObject([{ status: 'PENDING' }]);
    await closeBatch(user, batchId);
    expect((await sound()).batches).toMatchObject([{ status: 'DONE' }]);
    await createBatch(user, newBatch(2, { jobs: [newJob(7)] }));
    await cancelJob(uuid('a', 7));
    expect((await sound()).batches[1]).toMatchObject({ status: 'CANCELED' });
  });

  it('refuses a job that has ended', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(3) }));
    await recordJobStatus(user, uuid('a', 1), { status: 'DONE' });
    await recordJobStatus(user, uuid('a', 2), { status: 'ERROR' });
    const rows = await everything();
    for (const number of [1, 2]) expect((await cancelJob(uuid('a', number))).status).toBe(409);
    await expectUnchanged(rows);
  });

  it('answers 404 for what is not there or another’s', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(1) }));
    const rows = await everything();
    expect((await cancelJob(jobId, 'auth0|mallory')).status).toBe(404);
    expect((await cancelJob(batchId)).status).toBe(404);
    expect((await cancelJob('a1')).status).toBe(422);
    await expectUnchanged(rows);
  });
});

describe('PATCH /api/v1/batches/cancel', () => {
  const cancel = async (batch_ids: unknown, userId = user) => {
    const { status, data } = await askAs('cancelBatches', { body: { batch_ids }, userId });
    return { status, data: data as { batches: Batch[]; errors: Record<string, string> } };
  };

  it('cancels what it can and reports the others, each id once', async () => {
    for (const number of [1, 2, 3]) await createBatch(user, newBatch(number, { jobs: [newJob(number)] }));
    await createBatch('auth0|bob', newBatch(4, { jobs: [newJob(4)] }));
    await recordJobStatus(user, uuid('a', 2), { status: 'DONE' });
    const ids = [1, 2, 4, 9, 3, 3].map((number) => uuid('b', number));
    const { status, data } = await cancel(ids);
    expect(status).toBe(200);
    expect(data.batches.map(({ id, status }) => [id, status])).toEqual([
      [uuid('b', 1), 'CANCELED'],
      [uuid('b', 3), 'CANCELED'],
    ]);
    expect(data.errors).toEqual({
      [uuid('b', 2)]: 'The batch is DONE and cannot be canceled.',
      [uuid('b', 4)]: 'There is no such batch.',
      [uuid('b', 9)]: 'There is no such batch.',
    });
    const rows = await everything();
    expect(rows.jobs.map((job) => job.status)).toEqual(['CANCELED', 'DONE', 'CANCELED']);
    expect((await batchesAndJobs(client, names, 'auth0|bob')).batches).toMatchObject([{ status: 'PENDING', rev: 0 }]);
    expect(await cancel(ids)).toEqual({ status, data });
    await expectUnchanged(rows);
    expect(await cancel([])).toEqual({ status: 200, data: { batches: [], errors: {} } });
  });

  it.each([['text'], [['b1']], [Array.from({ length: 101 }, (_, at) => uuid('b', at))], [undefined]])(
    'refuses %j',
    async (ids) => {
      expect((await cancel(ids)).status).toBe(422);
    },
  );
});

describe('PATCH /api/v2/batches/{batch_id}/cancel/jobs', () => {
  const cancel = async (query: string, batch_id = batchId, userId = user) => {
    const { status, data } = await askAs('cancelJobs', { path: { batch_id }, query, userId });
    return { status, data: data as { jobs: Job[]; errors: Record<string, string> } };
  };
  const numbered = (...numbers: number[]) => numbers.map((number) => uuid('a', number));

  it('cancels all unfinished jobs of the batch, and reports ended ones; again it changes nothing', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(4) }));
    await createBatch(user, newBatch(2, { jobs: [newJob(7)] }));
    await recordJobStatus(user, uuid('a', 2), { status: 'ERROR' });
    await recordJobStatus(user, uuid('a', 3), { status: 'RUNNING' });
    const { status, data } = await cancel('');
    expect(status).toBe(200);
    expect(data.jobs.map(({ id }) => id)).toEqual(numbered(1, 3, 4));
    for (const job of data.jobs) expect(job.status).toBe('CANCELED');
    expect(data.errors).toEqual({ [uuid('a', 2)]: 'The job is ERROR and cannot be canceled.' });
    const rows = await everything();
    expect(rows.batches).toMatchObject([{ status: 'DONE' }, { status: 'PENDING' }]);
    expect(await cancel('')).toEqual({ status, data });
    await expectUnchanged(rows);
  });

  it('chooses by ids, runs and times', async () => {
    /** Ids of jobs of the `at`th batch, each with four. */
    const jobsOf = (at: number, ...numbers: number[]) => numbers.map((number) => uuid('a', 4 * at + number));
    const queries: [query: (at: number) => string, chosen: number[]][] = [
      [(at) => `id=${jobsOf(at, 2)}&id=${jobsOf(at, 3)}`, [2, 3]],
      [() => 'min_runs=20', [2, 3]],
      [() => 'max_runs=20', [1, 2]],
      [() => 'min_runs=20&max_runs=20', [2]],
      [(at) => `id=${jobsOf(at, 1)}&min_runs=20`, []],
      [() => 'start_date=2026-03-01T00:00:01Z', [3, 4]],
      [() => 'end_date=2026-03-01T00:00:00.5Z', [1, 2]],
      [() => 'start_date=2020-01-01&end_date=2020-01-02', []],
    ];
    const [first, second] = ['2026-03-01T00:00:00.000000Z', '2026-03-01T00:00:01.000000Z'] as const;
    const job = (at: number, number: number, runs: number | null) => newJob(4 * at + number, { runs });
    await createBatches(
      user,
      queries.map((_, at) => ({
        ...newBatch(at, { jobs: [job(at, 1, 10), job(at, 2, 20)], open: true }),
        created_at: first,
      })),
    );
    const later = queries.map((_, at) => ({
      ...{ id: `later ${at}`, user_id: user, time: second, type: 'jobs.added' as const },
      data: { batch_id: uuid('b', at), jobs: [job(at, 3, 30), job(at, 4, null)] },
    }));
    expect(await applyEvents(later)).toEqual(later.map(() => undefined));
    for (const [at, [queryOf]] of queries.entries()) {
      const { data } = await cancel(queryOf(at), uuid('b', at));
      expect(
        data.jobs.map(({ id }) => id),
        queryOf(at),
      ).toEqual(jobsOf(at, ...queries[at]![1]));
    }
    const { batches, jobs: rows } = await sound();
    for (const [at, [queryOf, chosen]] of queries.entries()) {
      const canceled = rows.filter(({ batch_id, status }) => batch_id === uuid('b', at) && status === 'CANCELED');
      expect(
        canceled.map(({ id }) => id),
        queryOf(at),
      ).toEqual(jobsOf(at, ...chosen));
    }
    expect(batches).toMatchObject(queries.map(() => ({ status: 'PENDING', open: true })));
  });

  it('reports ids that the batch does not have, the same for another user’s as for unknown ones', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(1) }));
    await createBatch(user, newBatch(2, { jobs: [newJob(7)] }));
    await createBatch('auth0|bob', newBatch(3, { jobs: [newJob(8)] }));
    const rows = await everything();
    const ids = numbered(7, 8, 9);
    const { status, data } = await cancel(ids.map((id) => `id=${id}`).join('&'));
    const errors = Object.fromEntries(ids.map((id) => [id, 'The batch has no such job.']));
    expect({ status, data }).toEqual({ status: 200, data: { jobs: [], errors } });
    await expectUnchanged(rows);
  });

  it('cancels more jobs than a transaction holds, and ends the batch', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(100) }));
    expect((await cancel('')).data.jobs).toHaveLength(100);
    expect((await sound()).batches).toMatchObject([{ status: 'CANCELED' }]);
  });

  it('refuses more than one answer holds, and cancels none', async () => {
    const variables = { text: 'x'.repeat(31_000) };
    await createBatch(user, newBatch(1, { jobs: Array.from({ length: 200 }, (_, at) => newJob(at, { variables })) }));
    expect((await cancel('')).status).toBe(422);
    expect((await sound()).batches).toMatchObject([{ jobs_count_per_status: { PENDING: 200 } }]);
    expect((await cancel(`id=${uuid('a', 0)}`)).data.jobs).toHaveLength(1);
  });

  it('answers 404 for what is not there or another’s', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(1) }));
    const rows = await everything();
    expect((await cancel('', batchId, 'auth0|mallory')).status).toBe(404);
    expect((await cancel('', jobId)).status).toBe(404);
    expect((await cancel('min_runs=x', 'b1')).status).toBe(422);
    await expectUnchanged(rows);
  });
});
