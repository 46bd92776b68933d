/**
 * What becomes of calls that died on their way: they are repeated, or the service finishes them.
 */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { cancelBatch, cancelBatches, cancelJobs } from '../../functions/data/batches/cancellations.ts';
import { addJobs } from '../../functions/data/batches/new-batches.ts';
import { recoveryDelaySeconds, type ScheduleRecovery } from '../../functions/data/lifecycle/schedule-recovery.ts';
import type { ServiceError } from '../../functions/errors.ts';
import { queues } from '../../functions/queues.ts';
import { AddJobsRequest } from '../../functions/schemas/batch-request.ts';
import { Claims } from '../../functions/schemas/claims.ts';
import { LifecycleEvent } from '../../functions/schemas/lifecycle-event.ts';
import { dyingClient, isFinished } from '../support/dying-client.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { failures, startFaultProxy } from '../support/fault-proxy.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { lambdaContext } from '../support/gateway-event.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { ownerRows, soundRows } from '../support/owner-rows.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { sqsEvent } from '../support/sqs-event.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const sink = await startMessageSink();
const proxy = await startFaultProxy(dynamodbEndpoint);
vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', proxy.url);
afterAll(() => Promise.all([sink.stop(), proxy.stop()]));
const { handler } = await import('../../functions/consumers/recover-batches.ts');

const db = testDb(client, names);
const writer = writeApi(db);
const batch_id = uuid('b', 1);
const jobs = (count: number) => Array.from({ length: count }, (_, at) => newJob(at + 1));
let user: string;
beforeEach(() => {
  user = `auth0|${randomUUID()}`;
  sink.messages.length = 0;
  sink.refusing = false;
});

/** The database of a function that dies after `most` transactions. */
const dying = (most: number) => ({ ...db, client: dyingClient(client, most).client });
const sound = () => soundRows(client, names, user);
const count = (rows: readonly { status: string }[], status: string) =>
  rows.filter((row) => row.status === status).length;

/** Delivers a message. Returns the log's line, and whether the message is to be delivered again. */
async function deliver(content: unknown, receiveCount = 1, firstSentAt?: number) {
  const event = sqsEvent([content], { receiveCount, firstSentAt, messageId: () => 'a message' });
  let failures = 0;
  const [log] = await loggedLines(async () => {
    failures = (await handler(event, lambdaContext())).batchItemFailures.length;
  });
  return { log, again: failures > 0 };
}

describe('recoverBatches', () => {
  it('says what it did, and leaves alone what was finished or never begun', async () => {
    const message = { user_id: user, batch_id };
    expect(await deliver(message)).toMatchObject({ again: false, log: { level: 'INFO', outcome: 'not begun' } });
    await writer.createBatch(user, newBatch(1, { jobs: jobs(150) }));
    expect((await deliver(message)).log.outcome).toBe('finished');
    const call = { id: 'none', job_ids: jobs(150).map(({ id }) => id), errors: null };
    expect((await deliver({ ...message, call })).log.outcome).toBe('finished');
    expect(count((await sound()).jobs, 'PENDING')).toBe(150);
    await expect(cancelBatch(dying(1), { userId: user, batchId: batch_id })).rejects.toThrow('killed');
    expect((await deliver(message)).log).toMatchObject({ user_id: user, batch_id, outcome: 'canceled', failed: 0 });
    expect((await sound()).batches).toMatchObject([{ status: 'CANCELED' }]);
  });

  it.each([
    ['is not JSON', '{"user_id":'],
    ['names no user', { batch_id }],
    ['names no batch', { user_id: 'ada', batch_id: 'b1' }],
  ])('sends a message that %s to the dead letters, with the reason', async (_, body) => {
    expect(await deliver(body)).toMatchObject({ again: false, log: { level: 'ERROR', failed: 0 } });
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    expect(sink.messages).toMatchObject([
      { queue: 'Recovery-dead-letters', body: text, attributes: { message_id: 'a message' } },
    ]);
    expect(sink.messages[0]!.attributes.reason).toMatch(/^InvalidInput: ./);
    sink.refusing = true;
    expect(await deliver(body)).toMatchObject({ again: true, log: { send_fault: expect.anything() } });
  });

  it('sends a message that fails again, with its first time, and after 12 hours to the dead letters', async () => {
    await writer.createBatch(user, newBatch(1, { jobs: jobs(150) }));
    await expect(cancelBatch(dying(1), { userId: user, batchId: batch_id })).rejects.toThrow('killed');
    const strike = failures['an internal error']!;
    proxy.plan(user, { strike, from: 1, times: Number.POSITIVE_INFINITY });
    const message = { user_id: user, batch_id };
    const faults = [{ user_id: user, disposition: 'put aside', error: { name: 'DependencyFailed' } }];
    const hours = (count: number) => Date.now() - count * 3_600_000;
    const sentAt = hours(11);
    const log = { level: 'ERROR', failed: 0, faults, EventAge: expect.closeTo(11 * 3_600, -3) };
    expect(await deliver(message, 1, sentAt)).toMatchObject({ again: false, log });
    const attributes = { sent_at: String(sentAt) };
    const body = JSON.stringify(message);
    expect(sink.messages).toMatchObject([{ queue: 'Recovery', body, attributes, delaySeconds: 60 }]);
    sink.refusing = true;
    expect(await deliver(message)).toMatchObject({ again: true, log: { failed: 1 } });
    sink.refusing = false;
    for (const [deliveries, firstSentAt] of [
      [1, hours(13)],
      [queues.Recovery.maxDeliveries, Date.now()],
    ] as const) {
      sink.messages.length = 0;
      const last = await deliver(message, deliveries, firstSentAt);
      expect(last).toMatchObject({ again: false, log: { faults: [{ user_id: user, disposition: 'dead letter' }] } });
      expect(sink.messages).toMatchObject([
        { queue: 'Recovery-dead-letters', attributes: { reason: expect.stringMatching(/^DependencyFailed: ./) } },
      ]);
    }
    proxy.plan(user);
    expect((await deliver(message)).log.outcome).toBe('canceled');
    expect(count((await sound()).jobs, 'CANCELED')).toBe(150);
  });
});

/** Calls a function of `data/` that dies after `most` transactions. Returns what it announced. */
async function die(most: number, work: (through: typeof db, announce: ScheduleRecovery) => Promise<unknown>) {
  const announced: object[] = [];
  const dying = dyingClient(client, most);
  const working = work({ ...db, client: dying.client }, async ({ userId, batchId, call }, afterSeconds) => {
    expect([dying.transactions, afterSeconds]).toEqual([0, recoveryDelaySeconds]);
    announced.push({ user_id: userId, batch_id: batchId, ...(call && { call }) });
  });
  return { finished: await isFinished(working), announced };
}

describe('a call that adds jobs and dies', () => {
  const request = (count: number) =>
    AddJobsRequest.parse(Array.from({ length: count }, () => ({ runs: 7, sequence: sequenceText() })));
  // Two transactions, and three.
  const [some, many] = [request(60), request(120)];
  const callOf = (idempotencyKey?: string) => ({ userId: user, idempotencyKey, claims: Claims.parse({}) });
  const add = (key: string | undefined, most: number, added = some) =>
    die(most, (through, announce) => addJobs(through, callOf(key), { batchId: batch_id, body: added }, announce));
  const addOnce = (key?: string) =>
    addJobs(db, callOf(key), { batchId: batch_id, body: some }).then(
      ({ jobs_count }) => jobs_count,
      (error: ServiceError) => error.reason,
    );

  it('leaves none of its jobs to be run, and the batch as it was', async () => {
    for (let most = 1, finished = false; !finished; most++) {
      user = `auth0|${randomUUID()}`;
      await writer.createBatch(user, newBatch(1, { jobs: jobs(1), open: true }));
      const call = await add(undefined, most, many);
      finished = call.finished;
      expect(call.announced).toHaveLength(1);
      const begun = await sound();
      expect(begun.batches[0]?.pending_calls?.length ?? 0).toBe(finished ? 0 : 1);
      expect((await deliver(call.announced[0])).log.outcome).toBe(finished ? 'finished' : 'canceled');
      const { batches, jobs: rows } = await sound();
      expect(rows).toHaveLength(begun.jobs.length);
      expect(batches).toMatchObject([{ status: 'PENDING', open: true }]);
      expect(batches[0]).not.toHaveProperty('pending_calls');
      expect(count(rows, 'PENDING')).toBe(finished ? 121 : 1);
      if (finished) break;
      expect(rows.at(-1)).toMatchObject({
        status: 'CANCELED',
        errors: ['The call that added this job did not come to its end.'],
      });
      expect((await deliver(call.announced[0])).log.outcome).toBe('finished');
    }
  });

  it('goes on when it is repeated with its key, also in a batch that was closed meanwhile', async () => {
    await writer.createBatch(user, newBatch(1, { jobs: jobs(1), open: true }));
    const { announced } = await add('k', 1);
    await writer.closeBatch(user, batch_id);
    expect(await addOnce('k')).toBe(61);
    expect((await deliver(announced[0])).log.outcome).toBe('finished');
    const { batches, jobs: rows } = await sound();
    expect(batches).toMatchObject([{ open: false, jobs_count_per_status: { PENDING: 61 } }]);
    expect(batches[0]).not.toHaveProperty('pending_calls');
    expect(rows.map(({ creation_order }) => creation_order)).toEqual(rows.map((_, at) => at));
  });

  it('is one of several that die, each finished for itself', async () => {
    await writer.createBatch(user, newBatch(1, { jobs: jobs(1), open: true }));
    const [one, other] = [await add('one', 1), await add('other', 1)];
    expect((await sound()).batches[0]?.pending_calls).toHaveLength(2);
    await deliver(one.announced[0]);
    const { batches, jobs: rows } = await sound();
    expect(batches[0]?.pending_calls).toHaveLength(1);
    expect(count(rows, 'CANCELED')).toBe(count(rows, 'PENDING') - 1);
    expect(await addOnce('other')).toBe(rows.length + 60 - count(rows, 'CANCELED'));
    expect((await deliver(other.announced[0])).log.outcome).toBe('finished');
    expect((await sound()).batches[0]).not.toHaveProperty('pending_calls');
  });

  it('does not go on once it was given up, and its key stays used', async () => {
    await writer.createBatch(user, newBatch(1, { jobs: jobs(1), open: true }));
    const { announced } = await add('k', 1);
    await deliver(announced[0]);
    const before = await ownerRows(client, names, user);
    expect(await addOnce('k')).toBe('call_timed_out');
    expect(await ownerRows(client, names, user)).toEqual(before);
    await sound();
    expect(await addOnce('another')).toBe(before.jobs.length + 60);
  });

  it('keeps a closed batch from ending until it is finished', async () => {
    await writer.createBatch(user, newBatch(1, { jobs: jobs(1), open: true }));
    const { announced } = await add(undefined, 1);
    await writer.closeBatch(user, batch_id);
    const { jobs: begun } = await sound();
    const ends = begun.map(({ id: job_id }, at) => ({
      ...{ id: `end ${at}`, type: 'job.updated', time: new Date().toISOString(), user_id: user },
      data: { job_id, status: at === begun.length - 1 ? 'ERROR' : 'DONE' },
    }));
    const refused = await writer.applyEvents(ends.map((event) => LifecycleEvent.parse(event)));
    expect(refused).toEqual(ends.map(() => undefined));
    expect((await sound()).batches).toMatchObject([{ status: 'PENDING' }]);
    await deliver(announced[0]);
    expect((await sound()).batches).toMatchObject([{ status: 'DONE', jobs_count: begun.length }]);
  });

  it('does not go on in a batch that is being canceled or has ended', async () => {
    await writer.createBatch(user, newBatch(1, { jobs: jobs(60), open: true }));
    await add('k', 1);
    await expect(cancelBatch(dying(1), { userId: user, batchId: batch_id })).rejects.toThrow('killed');
    expect((await sound()).batches).toMatchObject([{ canceling: true }]);
    expect(await addOnce('k')).toBe('batch_ended');
    await deliver({ user_id: user, batch_id });
    const { batches, jobs: rows } = await sound();
    expect(batches[0]).not.toHaveProperty('pending_calls');
    expect(count(rows, 'CANCELED')).toBe(rows.length);
    expect(await addOnce('k')).toBe('batch_ended');
  });
});

describe('a call that cancels several batches and runs out of time', () => {
  const several = [1, 2, 3, 4].map((number) => uuid('b', number));
  const jobsOf = (number: number, count: number) =>
    Array.from({ length: count }, (_, at) => newJob(1_000 * number + at));

  /** Cancels the batches. The time has run out once it was asked for `questions` times. */
  const cancel = async (questions: number) => {
    const announced: string[] = [];
    const handedOver: string[] = [];
    let asked = 0;
    const wanted = { userId: user, claims: {}, batchIds: several, hasTime: () => asked++ < questions };
    const result = await cancelBatches(db, wanted, async ({ batchId }, afterSeconds) => {
      (afterSeconds === 0 ? handedOver : announced).push(batchId);
    });
    return { ...result, announced, handedOver };
  };
  const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);
  const underWay = 'The batch is closed and being canceled: this takes up to 15 minutes.';

  beforeEach(async () => {
    const batches = [100, 3, 100, 2].map((count, at) => newBatch(at + 1, { jobs: jobsOf(at + 1, count), open: true }));
    await writer.createBatches(user, batches);
  });

  it('closes all, cancels the small ones, and hands the large ones over', async () => {
    const { batches, errors, announced, handedOver } = await cancel(4);
    expect(idsOf(batches)).toEqual([several[1], several[3]]);
    expect(errors).toEqual({ [several[0]!]: underWay, [several[2]!]: underWay });
    expect(announced).toEqual([several[0], several[2]]);
    expect(handedOver).toEqual(announced);
    expect((await sound()).batches).toMatchObject([
      { open: false, canceling: true },
      { status: 'CANCELED' },
      { open: false, canceling: true },
      { status: 'CANCELED' },
    ]);
    for (const id of handedOver) await deliver({ user_id: user, batch_id: id });
    expect(count((await sound()).batches, 'CANCELED')).toBe(4);
  });

  it('completes large ones while there is time, and says which it did not begin', async () => {
    const most = await cancel(5);
    expect(Object.keys(most.errors)).toHaveLength(2);
    const some = await cancel(2);
    expect(some.errors).toMatchObject({
      [several[0]!]: underWay,
      [several[2]!]: expect.stringContaining('cancel it again'),
      [several[3]!]: expect.stringContaining('cancel it again'),
    });
    const all = await cancel(Number.POSITIVE_INFINITY);
    expect([idsOf(all.batches), all.errors, all.handedOver]).toEqual([several, {}, []]);
    expect(count((await sound()).jobs, 'CANCELED')).toBe(205);
  });
});

describe('a call that cancels jobs and dies', () => {
  const cancel = (most: number, query = {}) =>
    die(most, (through, scheduleRecovery) =>
      cancelJobs(through, { userId: user, batchId: batch_id }, query, { scheduleRecovery }),
    );

  it('is finished by the service with the jobs that it had chosen, or by its repetition', async () => {
    for (let most = 0, finished = false; !finished; most++) {
      user = `auth0|${randomUUID()}`;
      await writer.createBatch(user, newBatch(1, { jobs: jobs(100), open: true }));
      const call = await cancel(most);
      finished = call.finished;
      expect(call.announced).toHaveLength(1);
      const begun = count((await sound()).jobs, 'CANCELED');
      if (!finished) expect(begun).toBeLessThan(100);
      await writer.addJobs(user, batch_id, [newJob(500)]);
      expect((await deliver(call.announced[0])).log.outcome).toBe(finished || most === 0 ? 'finished' : 'canceled');
      const { batches, jobs: rows } = await sound();
      expect(batches[0]).not.toHaveProperty('pending_calls');
      expect(count(rows, 'CANCELED')).toBe(most === 0 ? 0 : 100);
      expect(rows.at(-1)).toMatchObject({ status: 'PENDING' });
      expect(rows[0]?.errors).toBeNull();
      expect((await cancel(Number.POSITIVE_INFINITY)).finished).toBe(true);
      expect(count((await sound()).jobs, 'CANCELED')).toBe(101);
    }
  });

  it('ends a closed batch with its last transaction', async () => {
    await writer.createBatch(user, newBatch(1, { jobs: jobs(100) }));
    const { announced } = await cancel(1);
    expect((await sound()).batches).toMatchObject([{ status: 'PENDING' }]);
    await deliver(announced[0]);
    expect((await sound()).batches).toMatchObject([{ status: 'CANCELED' }]);
  });

  it('is ended by its repetition, and a closed batch with it', async () => {
    for (let most = 1, finished = false; !finished; most++) {
      user = `auth0|${randomUUID()}`;
      await writer.createBatch(user, newBatch(1, { jobs: jobs(150) }));
      const call = await cancel(most);
      finished = call.finished;
      if (!finished) expect((await sound()).batches[0]?.pending_calls).toHaveLength(1);
      await cancel(Number.POSITIVE_INFINITY);
      const { batches } = await sound();
      expect(batches).toMatchObject([{ status: 'CANCELED' }]);
      expect(batches[0]).not.toHaveProperty('pending_calls');
    }
  });

  it('announces nothing where one transaction does', async () => {
    await writer.createBatch(user, newBatch(1, { jobs: jobs(30) }));
    const query = { id: jobs(20).map(({ id }) => id) };
    expect(await cancel(1, query)).toEqual({ announced: [], finished: true });
    expect(count((await sound()).jobs, 'CANCELED')).toBe(20);
  });
});
