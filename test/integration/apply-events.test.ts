import { randomUUID } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Context } from 'aws-lambda';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { handler as Handler } from '../../functions/consumers/apply-events.ts';
import { recoverBatch } from '../../functions/data/batches/recovery.ts';
import { queues } from '../../functions/queues.ts';
import { repairUser } from '../../infra/repair/repair-user.ts';
import { changeItem } from '../support/change-item.ts';
import { deep, trials } from '../support/depth.ts';
import { dyingClient } from '../support/dying-client.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { type FaultProxy, failures, type Strike, silence, startFaultProxy, throttles } from '../support/fault-proxy.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { type SunkMessage, startMessageSink } from '../support/message-sink.ts';
import { uuid } from '../support/new-batch.ts';
import { batchesAndJobs, ownerRows, recountOf, soundRows } from '../support/owner-rows.ts';
import { seed } from '../support/seed.ts';
import { sqsEvent } from '../support/sqs-event.ts';
import { testDb } from '../support/test-db.ts';
import { allResults } from '../support/worker-stack.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names: tables } = await functionEnvironment();
const db = testDb(client, tables);
let sink: Awaited<ReturnType<typeof startMessageSink>>;
let proxy: FaultProxy;
let handler: typeof Handler;
let waitingHandler: typeof Handler;

beforeAll(async () => {
  sink = await startMessageSink();
  proxy = await startFaultProxy(dynamodbEndpoint);
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', proxy.url);
  ({ handler } = await import('../../functions/consumers/apply-events.ts'));
  ({ handler: waitingHandler } = await import('../../functions/consumers/apply-waiting-events.ts'));
});

afterAll(async () => {
  await Promise.all([sink.stop(), proxy.stop()]);
});

let user = '';
let users = 0;
beforeEach(() => {
  user = `auth0|events ${seed} ${users++}`;
  sink.messages.length = 0;
  sink.refusing = false;
});

type Event = Record<string, unknown> & { readonly data: Record<string, unknown> };

let events = 0;
function event(type: string, second: number, data: Record<string, unknown>, more: Record<string, unknown> = {}): Event {
  const time = `2026-03-01T00:00:${String(second).padStart(2, '0')}Z`;
  return { id: `event-${events++}`, type, time, user_id: user, data, ...more };
}

const batchId = uuid('b', 1);
const jobId = uuid('a', 1);
const created = (more: Record<string, unknown> = {}) =>
  event('batch.created', 0, {
    id: batchId,
    project_id: uuid('c', 1),
    device_type: 'FRESNEL',
    queue_priority: 'HIGH',
    jobs: [{ id: jobId, runs: 100 }],
    ...more,
  });

const delivery = (bodies: readonly unknown[], receiveCount = 1) =>
  sqsEvent(bodies, { receiveCount, sentAt: 1_740_787_200_000 });

/** Delivers the bodies. Returns the places of the failed ones. */
async function deliver(
  bodies: readonly unknown[],
  receiveCount = 1,
  getRemainingTimeInMillis = () => 600_000,
): Promise<number[]> {
  const sent = delivery(bodies, receiveCount);
  const { batchItemFailures } = await handler(sent, {
    awsRequestId: randomUUID(),
    getRemainingTimeInMillis,
  } as Context);
  return batchItemFailures
    .map(({ itemIdentifier }) => sent.Records.findIndex((record) => record.messageId === itemIdentifier))
    .sort();
}

const putAside = () => sink.messages.filter(({ queue }) => queue === 'WaitingEvents');
const deadLetters = () => sink.messages.filter(({ queue }) => queue === 'Events-dead-letters');

/** Delivers messages that were put aside. Returns the places of the failed ones. */
async function deliverWaiting(messages: readonly SunkMessage[], receiveCount = 1): Promise<number[]> {
  const sent = delivery(
    messages.map(({ body }) => body),
    receiveCount,
  );
  for (const [at, record] of sent.Records.entries()) {
    delete record.attributes.MessageGroupId;
    record.messageAttributes = Object.fromEntries(
      Object.entries(messages[at]!.attributes).map(([name, stringValue]) => [
        name,
        { stringValue, dataType: 'String' },
      ]),
    );
  }
  const getRemainingTimeInMillis = () => 600_000;
  const { batchItemFailures } = await waitingHandler(sent, {
    awsRequestId: randomUUID(),
    getRemainingTimeInMillis,
  } as Context);
  return batchItemFailures.map(({ itemIdentifier }) =>
    sent.Records.findIndex((each) => each.messageId === itemIdentifier),
  );
}

/** Delivers all bodies, then the bodies that were put aside, as the queues do. */
async function deliverAll(bodies: readonly unknown[]): Promise<void> {
  for (let start = 0; start < bodies.length; start += 10) {
    expect(await deliver(bodies.slice(start, start + 10))).toEqual([]);
  }
  const waiting = putAside();
  for (let start = 0; start < waiting.length; start += 10) {
    expect(await deliverWaiting(waiting.slice(start, start + 10))).toEqual([]);
  }
  sink.messages.splice(0, Infinity, ...deadLetters());
}

const rows = () => batchesAndJobs(client, tables, user);

/** The rows, and all that is remembered beside them. */
const everything = () => ownerRows(client, tables, user);

/** The line that a function logs during the work. */
async function logOf(work: () => Promise<unknown>): Promise<Record<string, unknown>> {
  const [line, ...others] = await loggedLines(work);
  expect(others).toEqual([]);
  return line;
}

describe('applyEvents', () => {
  it('creates a batch with its jobs, ids and times in canonical form', async () => {
    const body = created({
      id: `{${batchId.toUpperCase()}}`,
      tags: ['été', 'été'],
      configuration: { nested: [1e300, { seed: 12345678901234567000 }] },
      backend_configuration: { shots: 1 },
      jobs: [
        { id: jobId.replaceAll('-', ''), runs: 5, variables: { omega: [1.5] }, origin: 'AZURE' },
        { id: uuid('a', 2), runs: 0 },
      ],
    });
    expect(await deliver([{ ...body, time: '2026-03-01T02:00:00.5+02:00' }])).toEqual([]);
    const { batches, jobs } = await rows();
    expect(batches).toMatchObject([
      {
        id: batchId,
        user_id: user,
        status: 'PENDING',
        open: false,
        tags: ['été'],
        created_at: '2026-03-01T00:00:00.500000Z',
        configuration: JSON.stringify(body.data.configuration),
        backend_configuration: '{"shots":1}',
        jobs_count: 2,
        seq: 0,
      },
    ]);
    expect(jobs).toMatchObject([
      { id: jobId, batch_id: batchId, runs: 5, origin: 'AZURE', variables: '{"omega":[1.5]}', creation_order: 0 },
      { id: uuid('a', 2), runs: 0, origin: 'UNKNOWN', variables: null, creation_order: 1, results_key: null },
    ]);
    expect(sink.messages).toEqual([]);
  });

  it('applies an event that precedes its batch in the same delivery', async () => {
    const results_key = `results/${user}/${jobId}.json`;
    const failed = await deliver([
      event('job.updated', 9, { job_id: jobId, status: 'DONE', end_timestamp: '2026-03-01T00:00:09Z', results_key }),
      event('job.updated', 5, { job_id: jobId, status: 'RUNNING', start_timestamp: '2026-03-01T00:00:05Z' }),
      event('jobs.added', 2, { batch_id: batchId, jobs: [{ id: uuid('a', 2), runs: 1 }] }),
      created({ open: true }),
      event('batch.updated', 3, { batch_id: batchId, open: false, status: 'RUNNING', tags: ['x'] }),
    ]);
    expect(failed).toEqual([]);
    expect(await rows()).toMatchObject({
      batches: [
        {
          status: 'RUNNING',
          open: false,
          tags: ['x'],
          jobs_count_per_status: { PENDING: 1, DONE: 1 },
          updated_at: '2026-03-01T00:00:03.000000Z',
        },
      ],
      jobs: [
        {
          status: 'DONE',
          start_timestamp: '2026-03-01T00:00:05.000000Z',
          end_timestamp: '2026-03-01T00:00:09.000000Z',
          updated_at: '2026-03-01T00:00:09.000000Z',
          results_key,
        },
        { status: 'PENDING' },
      ],
    });
  });

  it('puts aside an event that precedes its batch, goes on with its owner, and applies it once the batch is there', async () => {
    const update = event('job.updated', 1, { job_id: jobId, status: 'RUNNING' });
    const addition = event('jobs.added', 1, { batch_id: batchId, jobs: [{ id: uuid('a', 2), runs: 1 }] });
    const other = created({ id: uuid('b', 2), jobs: [] });
    expect(await deliver([update, addition, other])).toEqual([]);
    expect((await rows()).batches.map(({ id }) => id)).toEqual([uuid('b', 2)]);
    expect(sink.messages.map(({ queue, body }) => [queue, body])).toEqual(
      [update, addition].map((each) => ['WaitingEvents', JSON.stringify(each)]),
    );
    expect(putAside()[0]?.delaySeconds).toBe(10);
    expect(putAside()[0]?.attributes).toEqual({
      message_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      group_id: user,
      sent_at: '1740787200000',
    });
    expect(await deliverWaiting(putAside())).toEqual([0, 1]);
    expect(await deliver([created({ open: true })])).toEqual([]);
    expect(await deliverWaiting(putAside(), 2)).toEqual([]);
    expect((await rows()).jobs).toMatchObject([{ status: 'RUNNING' }, { status: 'PENDING' }]);
    expect(deadLetters()).toEqual([]);
  });

  it('applies an event once that is put aside and also delivered again', async () => {
    const update = event('batch.updated', 1, { batch_id: batchId, tags: ['a'] });
    await deliver([update]);
    await deliver([created(), update]);
    const before = await everything();
    expect(await deliverWaiting(putAside())).toEqual([]);
    expect(await everything()).toEqual(before);
  });

  it('gives up a waiting event after a day, under the ids of its first message', async () => {
    const { maxDeliveries, visibilitySeconds } = queues.WaitingEvents;
    expect(maxDeliveries * visibilitySeconds).toBe(24 * 3600);
    await deliver([event('job.updated', 1, { job_id: jobId, status: 'RUNNING' })]);
    expect(await deliverWaiting(putAside(), maxDeliveries - 1)).toEqual([0]);
    expect(deadLetters()).toEqual([]);
    expect(await deliverWaiting(putAside(), maxDeliveries)).toEqual([]);
    expect(deadLetters()).toMatchObject([
      {
        attributes: {
          reason: 'NotFound: There is no such job.',
          message_id: putAside()[0]!.attributes.message_id,
        },
        groupId: user,
      },
    ]);
  });

  it('reports an event and its owner’s later ones as failed while it cannot be put aside', async () => {
    sink.refusing = true;
    const bodies = [
      created(),
      event('job.updated', 1, { job_id: uuid('a', 9), status: 'RUNNING' }),
      event('batch.updated', 2, { batch_id: batchId, tags: ['late'] }),
      created({ id: uuid('b', 2), jobs: [] }),
    ];
    const other = { ...created(), user_id: `${user} other` };
    expect(await deliver([...bodies, other])).toEqual([1, 2, 3]);
    sink.refusing = false;
    expect(await deliver(bodies.slice(1), 2)).toEqual([]);
    expect((await rows()).batches).toMatchObject([{ id: batchId, tags: ['late'] }, { id: uuid('b', 2) }]);
  });

  it('puts aside an event about a corrupt row, and applies the others', async () => {
    await deliver([created({ open: true }), created({ id: uuid('b', 2), jobs: [{ id: uuid('a', 2), runs: 1 }] })]);
    const { jobs } = await rows();
    const job = jobs.find(({ id }) => id === jobId)!;
    await client.send(new PutCommand({ TableName: tables.Jobs, Item: { ...job, runs: 'many' } }));
    const update = event('job.updated', 2, { job_id: jobId, status: 'RUNNING' });
    const others = [
      event('batch.updated', 1, { batch_id: batchId, tags: ['before'] }),
      update,
      event('job.updated', 3, { job_id: uuid('a', 2), status: 'DONE' }),
    ];
    expect(await deliver(others)).toEqual([]);
    expect(sink.messages).toMatchObject([{ queue: 'WaitingEvents', body: JSON.stringify(update) }]);
    expect(await deliverWaiting(putAside())).toEqual([0]);
    await client.send(new PutCommand({ TableName: tables.Jobs, Item: job }));
    expect(await deliverWaiting(putAside(), 2)).toEqual([]);
    expect(await rows()).toMatchObject({
      batches: [{ tags: ['before'] }, { jobs_count_per_status: { DONE: 1 } }],
      jobs: [{ status: 'RUNNING' }, { status: 'DONE' }],
    });
  });

  const outages = { throttling: throttles.throttling!, 'an internal error': failures['an internal error']!, silence };

  it('stops owners at outages, keeps their order, and serves the others', async () => {
    const { maxDeliveries, visibilitySeconds } = queues.Events;
    expect(maxDeliveries * visibilitySeconds).toBe(12 * 3600);
    const owners = Object.entries(outages).map(([name, strike]) => ({ owner: `${user} ${name}`, strike }));
    const eventsOf = (user_id: string) =>
      [created(), event('batch.updated', 1, { batch_id: batchId, tags: ['a'] })].map((each) => ({ ...each, user_id }));
    const struck = owners.flatMap(({ owner }) => eventsOf(owner));
    for (const { owner, strike } of owners) proxy.plan(owner, { strike, from: 1, times: 1_000 });
    // A busy machine may not serve the other in so short a time: then it gets more.
    for (let time = 3_000, failed: number[] = [6]; failed.includes(6); time *= 2) {
      failed = await deliver([...struck, created()], maxDeliveries - 1, () => time);
      expect(failed.slice(0, 6)).toEqual([0, 1, 2, 3, 4, 5]);
    }
    expect(sink.messages).toEqual([]);
    expect((await rows()).batches).toHaveLength(1);
    for (const { owner, strike } of owners) {
      // Requests that silence struck never pass.
      if (strike !== silence) await proxy.quiet(owner);
      proxy.plan(owner);
    }
    expect(await deliver(struck, 2)).toEqual([]);
    for (const { owner } of owners) {
      expect((await batchesAndJobs(client, tables, owner)).batches).toMatchObject([{ tags: ['a'] }]);
    }
  });

  /** Refused on account of another transaction: the SDK does not repeat such calls. */
  const conflict: Strike = async (_, response) => {
    response.writeHead(400, { 'Content-Type': 'application/x-amz-json-1.0' });
    const __type = 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException';
    response.end(JSON.stringify({ __type, message: '', CancellationReasons: [{ Code: 'TransactionConflict' }] }));
  };

  it('tries a busy owner again for half of the function’s time', async () => {
    proxy.plan(user, { strike: conflict, from: 1, times: 60 });
    expect(await deliver([created()])).toEqual([]);
    expect((await rows()).batches).toHaveLength(1);
  });

  it('gives back an owner that stays busy, so that the others do not wait for it longer', async () => {
    proxy.plan(user, { strike: conflict, from: 1, times: 1_000 });
    let asked = 0;
    // Half of the time has passed when the first round of 12 attempts, each of 3 reads, is over.
    expect(await deliver([created()], 1, () => (asked++ < 3 ? 15_000 : 7_000))).toEqual([0]);
    expect(proxy.count(user)).toBeLessThanOrEqual(36);
    proxy.plan(user);
  });

  it('logs the age of the oldest event of a delivery, counted from its first sending', async () => {
    const start = Date.now();
    const sent = (seconds: number) => String(start - 1000 * seconds);
    const Records = delivery(['nonsense', 'nonsense']).Records;
    Records[0]!.attributes.SentTimestamp = sent(10);
    Records[1]!.attributes.SentTimestamp = sent(5);
    Records[1]!.messageAttributes = { sent_at: { stringValue: sent(1000), dataType: 'String' } };
    const getRemainingTimeInMillis = () => 600_000;
    const line = await logOf(() =>
      waitingHandler({ Records }, { awsRequestId: 'r', getRemainingTimeInMillis } as Context),
    );
    expect(line.EventAge).toBeGreaterThanOrEqual(1000);
    expect(line.EventAge).toBeLessThanOrEqual(1001 + (Date.now() - start) / 1000);
  });

  it('logs what became of events that were not applied, as an error unless they just wait', async () => {
    const missing = event('batch.updated', 1, { batch_id: batchId, tags: [] });
    const early = await logOf(() => deliver([missing]));
    expect(early).toMatchObject({ level: 'INFO', failed: 0, faults: [{ disposition: 'put aside' }] });
    const waiting = await logOf(() => deliverWaiting(putAside()));
    expect(waiting).toMatchObject({ level: 'INFO', failed: 1, faults: [{ disposition: 'delivered again' }] });
    const last = await logOf(() => deliverWaiting(putAside(), queues.WaitingEvents.maxDeliveries));
    expect(last).toMatchObject({
      level: 'ERROR',
      faults: [{ disposition: 'dead letter', error: { name: 'NotFound' } }],
    });
    expect(await logOf(() => deliver(['nonsense']))).toMatchObject({ level: 'ERROR' });
    expect(await logOf(() => deliver([created()]))).not.toHaveProperty('faults');
  });

  describe('that ends a batch', () => {
    const ids = (count: number) => Array.from({ length: count }, (_, at) => uuid('a', at + 1));
    const createWith = (count: number) => created({ open: true, jobs: ids(count).map((id) => ({ id, runs: 1 })) });
    const end = () => event('batch.updated', 9, { batch_id: batchId, status: 'TIMED_OUT' });
    /** Ending this number of jobs takes two transactions. */
    const many = 90;
    const announced = () => sink.messages.filter(({ queue }) => queue === 'Recovery');
    const sound = () => soundRows(client, tables, user);

    /** Breaks the user's transactions after the first ones. Returns how many there were since. */
    const breakWritesAfter = (most: number) => {
      let writes = 0;
      proxy.plan(user, {
        from: 1,
        times: Number.POSITIVE_INFINITY,
        async strike(pass, response, { headers }) {
          const isWrite = String(headers['x-amz-target']).endsWith('TransactWriteItems');
          if (isWrite && writes++ >= most) return void response.destroy();
          const answer = await pass();
          response.writeHead(answer.status, answer.headers).end(answer.body);
        },
      });
      return () => writes;
    };

    it('ends its jobs in the same transaction, whatever the end', async () => {
      const ends = ['CANCELED', 'TIMED_OUT', 'ERROR'];
      const jobsOf = (at: number) => ids(9).slice(3 * at, 3 * at + 3);
      const begun = ends.flatMap((_, at) => [
        created({ id: uuid('b', at), open: true, jobs: jobsOf(at).map((id) => ({ id, runs: 1 })) }),
        event('job.updated', 1, { job_id: jobsOf(at)[0], status: 'DONE' }),
      ]);
      expect(await deliver(begun)).toEqual([]);
      for (const [at, status] of ends.entries()) {
        const writes = breakWritesAfter(Number.POSITIVE_INFINITY);
        expect(await deliver([event('batch.updated', 9, { batch_id: uuid('b', at), status })])).toEqual([]);
        expect(writes()).toBe(1);
      }
      const { batches, jobs } = await sound();
      expect(batches).toMatchObject(
        ends.map((status) => ({ status, open: false, jobs_count_per_status: { DONE: 1, CANCELED: 2, PENDING: 0 } })),
      );
      expect(jobs.map((job) => job.status)).toEqual(ends.flatMap(() => ['DONE', 'CANCELED', 'CANCELED']));
      expect(jobs.map((job) => job.rev)).toEqual(Array(9).fill(1));
      expect(announced()).toEqual([]);
    });

    it('ends it with the jobs that the same delivery creates', async () => {
      expect(await deliver([createWith(3), end()])).toEqual([]);
      expect((await sound()).jobs.map((job) => job.status)).toEqual(Array(3).fill('CANCELED'));
    });

    it('lets a late event end a job otherwise', async () => {
      await deliver([createWith(2), end()]);
      const results_key = `results/${user}/1.json`;
      expect(await deliver([event('job.updated', 5, { job_id: jobId, status: 'DONE', results_key })])).toEqual([]);
      const { batches, jobs } = await sound();
      expect(jobs).toMatchObject([{ status: 'DONE', results_key, errors: null }, { status: 'CANCELED' }]);
      expect(batches).toMatchObject([{ status: 'TIMED_OUT', jobs_count_per_status: { DONE: 1, CANCELED: 1 } }]);
      expect(deadLetters()).toEqual([]);
    });

    it('goes on where it died when the event is delivered again, whatever happened meanwhile', async () => {
      for (let most = 0, finished = false; !finished; most++) {
        user = `${user} ${most}`;
        await deliver([createWith(many)]);
        sink.messages.length = 0;
        const message = end();
        const writes = breakWritesAfter(most);
        finished = (await deliver([message])).length === 0;
        await proxy.quiet(user);
        proxy.plan(user);
        expect(writes()).toBeGreaterThanOrEqual(most);
        expect(announced().map(({ body }) => JSON.parse(body))).toEqual([{ user_id: user, batch_id: batchId }]);
        const { batches, jobs } = await sound();
        if (most > 0) expect(batches).toMatchObject([{ status: 'TIMED_OUT', open: false }]);
        if (!finished) expect(jobs.some(({ status }) => status === 'PENDING')).toBe(true);
        await deliver([event('job.updated', 8, { job_id: jobId, status: 'RUNNING' })]);
        expect(await deliver([message])).toEqual([]);
        const { jobs: ended } = await sound();
        expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(['CANCELED']));
      }
    });

    it('is finished ten minutes later where the event is not delivered again', async () => {
      await deliver([createWith(many)]);
      const dies = writeApi({ ...db, client: dyingClient(client, 1).client }).recordBatchStatus(user, batchId, {
        status: 'ERROR',
      });
      await expect(dies).rejects.toThrow('killed');
      const finish = () => recoverBatch(db, allResults, { user_id: user, batch_id: batchId });
      expect(await finish()).toBe('ended');
      const { batches, jobs } = await sound();
      expect(batches).toMatchObject([{ status: 'ERROR', jobs_count_per_status: { CANCELED: many } }]);
      expect(new Set(jobs.map(({ errors }) => errors?.join()))).toEqual(new Set(['The batch failed.']));
      expect(await finish()).toBe('finished');
    });
  });

  it('changes nothing when an event is repeated', async () => {
    const history = [
      created({ open: true }),
      event('jobs.added', 1, { batch_id: batchId, jobs: [{ id: uuid('a', 2), runs: 1 }] }),
      event('batch.updated', 2, { batch_id: batchId, tags: ['a'], status: 'RUNNING' }),
      event('batch.updated', 2, { batch_id: batchId, tags: ['b'] }),
      event('batch.updated', 3, { batch_id: batchId, open: false }),
      event('job.updated', 4, { job_id: jobId, status: 'ERROR', errors: ['lost'] }),
    ];
    for (const each of history) expect(await deliver([each])).toEqual([]);
    const once = await everything();
    for (const again of [history, history.toReversed()]) expect(await deliver(again)).toEqual([]);
    expect(await everything()).toEqual(once);
    expect(sink.messages).toEqual([]);
  });

  it('refuses another event under an id that was used', async () => {
    const first = event('batch.updated', 2, { batch_id: batchId, tags: ['a'] });
    const second = { ...event('batch.updated', 3, { batch_id: batchId, tags: ['b'] }), id: first.id };
    expect(await deliver([created(), first, second])).toEqual([]);
    expect((await rows()).batches).toMatchObject([{ tags: ['a'] }]);
    expect(sink.messages).toMatchObject([{ body: JSON.stringify(second), attributes: { event_id: first.id } }]);
    expect(sink.messages[0]?.attributes.reason).toContain('AlreadyExists');
  });

  it('gives the same rows for a history in any order, with any times, however often its events arrive', async () => {
    const size = 14;
    /** Each update has its own second: a later status may have an earlier time. */
    const history = (owner: string, seconds: readonly number[], end: string) => {
      let updates = 0;
      const of = (type: string, data: Record<string, unknown>) => ({
        ...event(type, seconds[updates]!, data, { user_id: owner }),
        id: `${owner} ${updates++}`,
      });
      const jobs = [1, 2, 3].map((number) => uuid('a', number));
      return [
        { ...created({ open: true, jobs: jobs.map((id) => ({ id, runs: 1 })) }), user_id: owner, id: owner },
        of('batch.updated', { batch_id: batchId, status: 'RUNNING', start_datetime: '2026-03-01T00:00:10Z' }),
        of('batch.updated', { batch_id: batchId, status: 'PAUSED', tags: ['a', 'b'] }),
        of('batch.updated', { batch_id: batchId, status: 'RUNNING', device_status: 'UP' }),
        of('batch.updated', { batch_id: batchId, start_datetime: '2026-03-01T00:00:11Z', tags: ['b'] }),
        of('batch.updated', { batch_id: batchId, open: false }),
        of('batch.updated', { batch_id: batchId, status: end, end_datetime: '2026-03-01T00:00:50Z' }),
        of('job.updated', { job_id: jobs[0], status: 'RUNNING', start_timestamp: '2026-03-01T00:00:12Z' }),
        of('job.updated', { job_id: jobs[0], errors: ['slow'] }),
        of('job.updated', { job_id: jobs[0], status: 'DONE', errors: [], end_timestamp: '2026-03-01T00:00:25Z' }),
        of('job.updated', { job_id: jobs[0], results_key: `results/${owner}/${jobs[0]}.json` }),
        of('job.updated', { job_id: jobs[1], status: 'CANCELING' }),
        of('job.updated', { job_id: jobs[1], status: 'CANCELED' }),
        of('job.updated', { job_id: jobs[2], status: 'RUNNING' }),
      ];
    };
    const outcome = async (owner: string, bodies: readonly unknown[]) => {
      await deliverAll(bodies);
      const { batches, jobs } = await soundRows(client, tables, owner);
      // How often a row was written depends on the order; what it says does not.
      return JSON.parse(
        JSON.stringify([...batches, ...jobs], (name, value) => (name === 'rev' ? undefined : value)).replaceAll(
          owner,
          '',
        ),
      );
    };
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(
          Array.from({ length: 59 }, (_, second) => second + 1),
          { minLength: size - 1, maxLength: size - 1 },
        ),
        fc.shuffledSubarray([...Array(size).keys()], { minLength: size }),
        fc.array(fc.nat(size - 1), { maxLength: 5 }),
        fc.constantFrom('DONE', 'CANCELED', 'TIMED_OUT', 'ERROR'),
        async (seconds, order, repeated, end) => {
          const [one, other] = [`${user} ${runs++}`, `${user} ${runs++}`];
          const all = history(other, seconds, end);
          const bodies = [...order, ...repeated].map((at) => all[at]);
          expect(await outcome(other, bodies)).toEqual(await outcome(one, history(one, seconds, end)));
        },
      ),
      trials(3, 60),
    );
    expect(sink.messages).toEqual([]);
  });

  it('adds no job to a batch that has 20,000', async () => {
    await deliver([created({ open: true })]);
    const Key = { user_id: user, id: batchId };
    await changeItem(client, tables.Batches, { Key, attributes: { jobs_count: 20_000 } });
    const added = event('jobs.added', 1, { batch_id: batchId, jobs: [{ id: uuid('a', 2), runs: 1 }] });
    expect(await deliver([added, event('batch.updated', 2, { batch_id: batchId, tags: ['on'] })])).toEqual([]);
    expect(await rows()).toMatchObject({ batches: [{ tags: ['on'] }], jobs: [{ id: jobId }] });
    expect(deadLetters()).toMatchObject([{ body: JSON.stringify(added) }]);
    expect(deadLetters()[0]?.attributes.reason).toMatch(/^LimitExceeded: .* may have 20000/);
  });

  it('keeps the digits of numbers', async () => {
    const numbers = '{"omega":[1e400,9007199254740993,-0,1.0]}';
    const content = { configuration: '@', backend_configuration: '@', jobs: [{ id: jobId, runs: 1, variables: '@' }] };
    expect(await deliver([JSON.stringify(created(content)).replaceAll('"@"', numbers)])).toEqual([]);
    const { batches, jobs } = await rows();
    expect(batches).toMatchObject([{ configuration: numbers, backend_configuration: numbers }]);
    expect(jobs).toMatchObject([{ variables: numbers }]);
  });

  it('ignores a status behind a final one, and refuses a second final status', async () => {
    await deliver([created(), event('job.updated', 20, { job_id: jobId, status: 'DONE' })]);
    const late = event('job.updated', 10, {
      job_id: jobId,
      status: 'RUNNING',
      start_timestamp: '2026-03-01T00:00:10Z',
    });
    const contradiction = event('job.updated', 30, { job_id: jobId, status: 'CANCELED' });
    expect(await deliver([late, contradiction])).toEqual([]);
    expect((await rows()).jobs).toMatchObject([{ status: 'DONE', start_timestamp: '2026-03-01T00:00:10.000000Z' }]);
    expect(sink.messages).toMatchObject([{ body: JSON.stringify(contradiction) }]);
    expect(sink.messages[0]?.attributes.reason).toContain('IllegalTransition');
  });

  const bad: Readonly<Record<string, () => unknown>> = {
    'is not JSON': () => '{"type": "batch.created"',
    'is nested too deep to be written again': () =>
      JSON.stringify(created({ configuration: { a: 'deep' } })).replace(
        '"deep"',
        `${'['.repeat(60_000)}${']'.repeat(60_000)}`,
      ),
    'is of an unknown type': () => event('batch.deleted', 1, {}),
    'lacks a field': () => event('batch.updated', 1, { status: 'RUNNING' }),
    'has a field too many': () => event('batch.updated', 1, { batch_id: batchId, state: 'RUNNING' }),
    'opens a batch again': () => event('batch.updated', 1, { batch_id: batchId, open: true }),
    'has an invalid time': () => ({ ...created(), time: 'yesterday' }),
    'lies too far in the future': () => ({ ...created(), time: new Date(Date.now() + 301_000).toISOString() }),
    'happened in 1969': () => ({ ...created(), time: '1969-12-31T23:59:59Z' }),
    'has a job twice': () => created({ jobs: [1, 1].map((number) => ({ id: uuid('a', number), runs: 1 })) }),
    'has 21 tags': () => created({ tags: Array.from({ length: 21 }, (_, number) => String(number)) }),
    'has 150,000 wrong errors': () =>
      event('job.updated', 9, { job_id: uuid('a', 9), errors: Array.from({ length: 150_000 }, () => null) }),
    'has a lone surrogate': () => created({ device_type: '\ud800' }),
    'adds to a closed batch': () =>
      event('jobs.added', 9, { batch_id: uuid('b', 9), jobs: [{ id: uuid('a', 7), runs: 1 }] }),
    'creates a batch that exists with other content': () => ({
      ...created({ id: uuid('b', 9), device_type: 'EMU_SV', jobs: [] }),
    }),
    'names results of another owner': () =>
      event('job.updated', 9, { job_id: uuid('a', 9), results_key: `results/${user}-2/x.json` }),
    'names the bare prefix of results': () =>
      event('job.updated', 9, { job_id: uuid('a', 9), results_key: `results/${user}/` }),
    'names results through a parent directory': () =>
      event('job.updated', 9, { job_id: uuid('a', 9), results_key: `results/${user}/../bob/x.json` }),
    'names results outside of results/': () =>
      event('job.updated', 9, { job_id: uuid('a', 9), results_key: 'secret.json' }),
  };

  it('sends bad events to the dead letters with their reasons, and applies the rest', async () => {
    const names = Object.keys(bad);
    /** The event after each bad one changes a job of its own. */
    const jobOf = (at: number) => uuid('d', at);
    const jobs = [uuid('a', 9), ...names.map((_, at) => jobOf(at))].map((id) => ({ id, runs: 1 }));
    expect(await deliver([created({ id: uuid('b', 9), jobs })])).toEqual([]);
    const bodies = names.map((name) => bad[name]!());
    await deliverAll(
      bodies.flatMap((body, at) => [body, event('job.updated', 1, { job_id: jobOf(at), errors: [names[at]] })]),
    );
    expect(await rows()).toMatchObject({
      batches: [{ id: uuid('b', 9), device_type: 'FRESNEL', open: false, status: 'PENDING', tags: [] }],
      jobs: [
        { id: uuid('a', 9), results_key: null, errors: null },
        ...names.map((name, at) => ({ id: jobOf(at), errors: [name] })),
      ],
    });
    expect(sink.messages).toHaveLength(names.length);
    for (const [at, name] of names.entries()) {
      const body = typeof bodies[at] === 'string' ? bodies[at] : JSON.stringify(bodies[at]);
      const letters = sink.messages.filter((each) => each.body === body);
      expect(letters, name).toHaveLength(1);
      expect(letters[0]?.attributes.reason, name).toMatch(/^(InvalidInput|IllegalTransition|AlreadyExists): ./);
      expect(letters[0]?.attributes.message_id, name).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('reports a bad event as failed while the dead-letter queue refuses it', async () => {
    sink.refusing = true;
    expect(await deliver(['nonsense', created()])).toEqual([0]);
    sink.refusing = false;
    expect(await deliver(['nonsense'], 2)).toEqual([]);
    expect(sink.messages).toHaveLength(1);
  });

  it('sends an event that fails at its last delivery to the dead letters with the reason', async () => {
    proxy.plan(user, { strike: failures['an internal error']!, from: 1, times: 1_000 });
    const sent = created();
    expect(await deliver([sent], queues.Events.maxDeliveries)).toEqual([]);
    expect(sink.messages).toMatchObject([{ queue: 'Events-dead-letters', groupId: user, body: JSON.stringify(sent) }]);
    expect(sink.messages[0]?.attributes.reason).toMatch(/^[A-Za-z]+: ./);
    expect(sink.messages[0]?.deduplicationId).toBe(sink.messages[0]?.attributes.message_id);
    proxy.plan(user);
  });

  it('keeps the events of a user whose columns are of another format until a repair has moved them', async () => {
    expect(await deliver([created()])).toEqual([]);
    const Key = { user_id: user, key: 'j#head' };
    await changeItem(client, tables.Columns, { Key, attributes: { format: undefined } });
    const updates = [
      event('job.updated', 1, { job_id: jobId, status: 'RUNNING' }),
      event('batch.updated', 2, { batch_id: batchId, tags: ['a'] }),
    ];
    expect(await deliver(updates, queues.Events.maxDeliveries - 1)).toEqual([0, 1]);
    expect(sink.messages).toEqual([]);
    await repairUser({ db, userId: user }, { fix: true });
    expect(await deliver(updates)).toEqual([]);
    expect(await recountOf(client, tables, user)).toEqual([]);
  });

  it('reports the rest as failed when its time is short', async () => {
    const owners = Array.from({ length: 4 }, (_, number) => `${user} short ${number}`);
    const bodies = owners.map((user_id) => ({ ...created(), user_id }));
    let asked = 0;
    // Enough for the first eight, who are served side by side: six of no owner, and two others.
    const failed = await deliver([...Array(6).fill('nonsense'), ...bodies], 1, () => (asked++ < 10 ? 600_000 : 0));
    expect(failed).toEqual([8, 9]);
    expect(deadLetters()).toHaveLength(6);
    expect(await deliver(bodies.slice(2))).toEqual([]);
    for (const owner of owners) expect((await batchesAndJobs(client, tables, owner)).batches).toHaveLength(1);
  });

  it('answers in time when DynamoDB does not', async () => {
    let givenUp = 0;
    const strike: Strike = async (_, response) => void response.once('close', () => givenUp++);
    proxy.plan(user, { strike, from: 1, times: 1_000 });
    // Of this, 1,500 ms are kept back: the answer comes before the first call is given up.
    expect(await deliver([created()], 1, () => 1_501)).toEqual([0]);
    expect(givenUp).toBe(0);
    proxy.plan(user);
  });

  it('applies each event once when several functions get the same delivery', async () => {
    const owners = Array.from({ length: deep ? 4 : 2 }, (_, number) => `${user} ${number}`);
    const bodies = owners.map((user_id) => ({ ...created(), user_id }));
    for (const failed of await Promise.all([deliver(bodies), deliver(bodies), deliver(bodies)]))
      expect(failed).toEqual([]);
    for (const owner of owners) {
      expect(await ownerRows(client, tables, owner)).toMatchObject({ batches: [{ seq: 0 }], jobs: [{ seq: 0 }] });
    }
  });
});
