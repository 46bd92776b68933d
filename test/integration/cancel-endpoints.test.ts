/**
 * What users cancel, by whole answers. How a cancellation survives a crash: cancel-batch.test.ts.
 */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RouteName } from '../../functions/routes.ts';
import type { Batch } from '../../functions/schemas/batch.ts';
import type { Job } from '../../functions/schemas/job.ts';
import { expectDocumented } from '../support/documented-answers.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { type GatewayRequest, gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { loadHandlers } from '../support/handlers.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { batchesAndJobs, ownerRows, recountOf } from '../support/owner-rows.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const sink = await startMessageSink();
vi.stubEnv('AWS_ENDPOINT_URL_SQS', sink.url);
vi.stubEnv('RECOVERY_QUEUE_URL', `${sink.url}/000000000000/unfinished`);
afterAll(() => sink.stop());

const handlers = await loadHandlers(['cancelBatch', 'cancelJob', 'cancelBatches', 'cancelJobs', 'getBatch', 'getJob']);
const { createBatch, recordJobStatus, recordBatchStatus, closeBatch, addJobs } = writeApi(client, names);
const [batchId, jobId] = [uuid('b', 1), uuid('a', 1)];
const jobs = (count: number) => Array.from({ length: count }, (_, at) => newJob(at + 1));
let user: string;
beforeEach(() => {
  user = `auth0|${randomUUID()}`;
  sink.messages.length = 0;
});

async function ask(route: RouteName & keyof typeof handlers, request: GatewayRequest) {
  const answer = await handlers[route](gatewayEvent(route, { userId: user, ...request }), lambdaContext());
  const { data } = expectDocumented(route, answer) as { data: never };
  return { status: answer.statusCode, data };
}
const cancelBatch = async (batch_id = batchId, userId = user) => {
  const { status, data } = await ask('cancelBatch', { path: { batch_id }, userId });
  return { status, data: data as Batch };
};
const cancelJob = async (job_id = jobId, userId = user) => {
  const { status, data } = await ask('cancelJob', { path: { job_id }, userId });
  return { status, data: data as Job };
};

async function sound() {
  expect(await recountOf(client, names, user)).toEqual([]);
  return ownerRows(client, names, user);
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
    const rows = await sound();
    expect(rows.jobs.map((job) => job.status)).toEqual(['DONE', ...Array(3).fill('CANCELED'), 'ERROR']);
    for (const job of rows.jobs.slice(1)) expect(job.end_timestamp).not.toBeNull();
    expect((await ask('getBatch', { path: { batch_id: batchId } })).data).toMatchObject(data);
    expect(await cancelBatch()).toEqual({ status, data });
    expect(await sound()).toEqual(rows);
    expect(sink.messages).toEqual([]);
  });

  it.each(['DONE', 'ERROR', 'TIMED_OUT'] as const)('refuses a batch that is %s and leaves it as it is', async (end) => {
    await createBatch(user, newBatch(1, { jobs: jobs(2) }));
    await recordBatchStatus(user, batchId, { status: end });
    const rows = await sound();
    expect((await cancelBatch()).status).toBe(409);
    expect(await sound()).toEqual(rows);
  });

  it('refuses a batch that has ended by itself, and leaves one alone that ended canceled', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(2) }));
    await createBatch(user, newBatch(2, { jobs: [newJob(7)] }));
    for (const job of [1, 2]) await recordJobStatus(user, uuid('a', job), { status: 'DONE' });
    await cancelJob(uuid('a', 7));
    const rows = await sound();
    expect((await cancelBatch()).status).toBe(409);
    expect(await cancelBatch(uuid('b', 2))).toMatchObject({ status: 200, data: { status: 'CANCELED' } });
    expect(await sound()).toEqual(rows);
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
    expect(sink.messages).toMatchObject([{ queue: 'unfinished' }]);
    expect(JSON.parse(sink.messages[0]!.body)).toEqual({ user_id: user, batch_id: batchId });
    await sound();
  });

  it('answers 404 for what is not there or another’s', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(1) }));
    const rows = await sound();
    expect((await cancelBatch(batchId, 'auth0|mallory')).status).toBe(404);
    expect((await cancelBatch(jobId)).status).toBe(404);
    expect((await cancelBatch('b1')).status).toBe(422);
    expect(await sound()).toEqual(rows);
  });
});

describe('PATCH /api/v2/jobs/{job_id}/cancel', () => {
  it.each(['PENDING', 'RUNNING', 'CANCELING'] as const)(
    'cancels a job that is %s; again it changes nothing',
    async (from) => {
      await createBatch(user, newBatch(1, { jobs: jobs(2) }));
      if (from !== 'PENDING') await recordJobStatus(user, jobId, { status: from });
      const { status, data } = await cancelJob();
      expect(status).toBe(200);
      expect(data).toMatchObject({ id: jobId, status: 'CANCELED' });
      expect(data.end_timestamp).not.toBeNull();
      const rows = await sound();
      expect(rows.batches).toMatchObject([{ status: 'PENDING', jobs_count_per_status: { CANCELED: 1, PENDING: 1 } }]);
      expect((await ask('getJob', { path: { job_id: jobId } })).data).toMatchObject(data);
      expect(await cancelJob()).toEqual({ status, data });
      expect(await sound()).toEqual(rows);
      await expect(recordJobStatus(user, jobId, { status: 'DONE' })).rejects.toMatchObject({ status: 409 });
    },
  );

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

  it.each(['DONE', 'ERROR'] as const)('refuses a job that is %s', async (end) => {
    await createBatch(user, newBatch(1, { jobs: jobs(2) }));
    await recordJobStatus(user, jobId, { status: end });
    const rows = await sound();
    expect((await cancelJob()).status).toBe(409);
    expect(await sound()).toEqual(rows);
  });

  it('answers 404 for what is not there or another’s', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(1) }));
    const rows = await sound();
    expect((await cancelJob(jobId, 'auth0|mallory')).status).toBe(404);
    expect((await cancelJob(batchId)).status).toBe(404);
    expect((await cancelJob('a1')).status).toBe(422);
    expect(await sound()).toEqual(rows);
  });
});

describe('PATCH /api/v1/batches/cancel', () => {
  const cancel = async (batch_ids: unknown, userId = user) => {
    const { status, data } = await ask('cancelBatches', { body: { batch_ids }, userId });
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
    const rows = await sound();
    expect(rows.jobs.map((job) => job.status)).toEqual(['CANCELED', 'DONE', 'CANCELED']);
    expect((await batchesAndJobs(client, names, 'auth0|bob')).batches).toMatchObject([{ status: 'PENDING', rev: 0 }]);
    expect(await cancel(ids)).toEqual({ status, data });
    expect(await sound()).toEqual(rows);
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
    const { status, data } = await ask('cancelJobs', { path: { batch_id }, query, userId });
    return { status, data: data as { jobs: Job[]; errors: Record<string, string> } };
  };
  const numbered = (...numbers: number[]) => numbers.map((number) => uuid('a', number));

  it('cancels all unfinished jobs of the batch, and reports those that have ended; again it changes nothing', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(4) }));
    await createBatch(user, newBatch(2, { jobs: [newJob(7)] }));
    await recordJobStatus(user, uuid('a', 2), { status: 'ERROR' });
    await recordJobStatus(user, uuid('a', 3), { status: 'RUNNING' });
    const { status, data } = await cancel('');
    expect(status).toBe(200);
    expect(data.jobs.map(({ id }) => id)).toEqual(numbered(1, 3, 4));
    for (const job of data.jobs) expect(job.status).toBe('CANCELED');
    expect(data.errors).toEqual({ [uuid('a', 2)]: 'The job is ERROR and cannot be canceled.' });
    const rows = await sound();
    expect(rows.batches).toMatchObject([{ status: 'DONE' }, { status: 'PENDING' }]);
    expect(await cancel('')).toEqual({ status, data });
    expect(await sound()).toEqual(rows);
  });

  it.each([
    [`id=${uuid('a', 2)}&id=${uuid('a', 3)}`, [2, 3]],
    ['min_runs=20', [2, 3]],
    ['max_runs=20', [1, 2]],
    ['min_runs=20&max_runs=20', [2]],
    [`id=${uuid('a', 1)}&min_runs=20`, []],
    ['start_date=2026-03-01T00:00:01Z', [3, 4]],
    ['end_date=2026-03-01T00:00:00.5Z', [1, 2]],
    ['start_date=2020-01-01&end_date=2020-01-02', []],
  ])('chooses by %s', async (query, chosen) => {
    const [first, second] = ['2026-03-01T00:00:00.000000Z', '2026-03-01T00:00:01.000000Z'] as const;
    await createBatch(user, {
      ...newBatch(1, { jobs: [newJob(1, { runs: 10 }), newJob(2, { runs: 20 })], open: true }),
      created_at: first,
    });
    const event = { id: 'later', time: second, digest: 'x' };
    const later = [newJob(3, { runs: 30 }), newJob(4, { runs: null })];
    await addJobs(user, batchId, later, { event });
    const { data } = await cancel(query);
    expect(data.jobs.map(({ id }) => id)).toEqual(numbered(...chosen));
    const { batches, jobs: rows } = await sound();
    expect(rows.filter((job) => job.status === 'CANCELED').map(({ id }) => id)).toEqual(numbered(...chosen));
    expect(batches).toMatchObject([{ status: 'PENDING', open: true }]);
  });

  it('reports ids that the batch does not have, another’s as nobody’s', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(1) }));
    await createBatch(user, newBatch(2, { jobs: [newJob(7)] }));
    await createBatch('auth0|bob', newBatch(3, { jobs: [newJob(8)] }));
    const rows = await sound();
    const ids = numbered(7, 8, 9);
    const { status, data } = await cancel(ids.map((id) => `id=${id}`).join('&'));
    const errors = Object.fromEntries(ids.map((id) => [id, 'The batch has no such job.']));
    expect({ status, data }).toEqual({ status: 200, data: { jobs: [], errors } });
    expect(await sound()).toEqual(rows);
  });

  it('cancels more jobs than a transaction holds, and ends the batch', async () => {
    await createBatch(user, newBatch(1, { jobs: jobs(150) }));
    expect((await cancel('')).data.jobs).toHaveLength(150);
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
    const rows = await sound();
    expect((await cancel('', batchId, 'auth0|mallory')).status).toBe(404);
    expect((await cancel('', jobId)).status).toBe(404);
    expect((await cancel('min_runs=x', 'b1')).status).toBe(422);
    expect(await sound()).toEqual(rows);
  });
});
