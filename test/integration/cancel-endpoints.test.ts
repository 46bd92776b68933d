/** What users cancel, by whole answers. How a cancellation survives a crash: cancel-batch.test.ts. */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { lifecycle } from '../../functions/data/lifecycle/lifecycle.ts';
import type { RouteName } from '../../functions/routes.ts';
import type { Batch } from '../../functions/schemas/batch.ts';
import type { Job } from '../../functions/schemas/job.ts';
import { expectDocumented } from '../support/documented-answers.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { type GatewayRequest, gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { loadHandlers } from '../support/handlers.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { ownerRows, recountOf } from '../support/owner-rows.ts';

const { client, names } = await functionEnvironment();
const sink = await startMessageSink();
vi.stubEnv('AWS_ENDPOINT_URL_SQS', sink.url);
vi.stubEnv('UNFINISHED_QUEUE_URL', `${sink.url}/000000000000/unfinished`);
afterAll(() => sink.stop());

const handlers = await loadHandlers(['cancelBatch', 'cancelJob', 'getBatch', 'getJob']);
const { createBatch, recordJobStatus, recordBatchStatus, closeBatch } = lifecycle(client, names);
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
    const { status, data } = await cancelBatch();
    expect(status).toBe(200);
    expect(data).toMatchObject({ id: batchId, status: 'CANCELED', open: false, complete: true });
    expect(data.jobs_count_per_status).toMatchObject({ DONE: 1, CANCELED: 4, PENDING: 0, RUNNING: 0, CANCELING: 0 });
    const rows = await sound();
    expect(rows.jobs.map((job) => job.status)).toEqual(['DONE', ...Array(4).fill('CANCELED')]);
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
