/**
 * Queues deliver messages at least once: as two copies at the same time, again much later, and in
 * another order. What that leaves is what one delivery leaves.
 */

import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { cancelBatch } from '../../functions/data/batches/cancellations.ts';
import { getLastAttempt } from '../../functions/data/webhooks/webhook-attempts.ts';
import { type QueueName, queues } from '../../functions/queues.ts';
import { consumedQueues } from '../support/consumed-queues.ts';
import { dyingClient } from '../support/dying-client.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { type SunkMessage, startMessageSink } from '../support/message-sink.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { soundRows } from '../support/owner-rows.ts';
import { startSecrets } from '../support/secrets.ts';
import { patientClock, testDb } from '../support/test-db.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const [sink, secrets, receiver] = await Promise.all([
  startMessageSink(),
  startSecrets(client, names),
  startWebhookReceiver(),
]);
afterAll(async () => {
  vi.doUnmock('../../functions/runtime/clock.ts');
  await Promise.all([sink, secrets, receiver].map(({ stop }) => stop()));
});

const begin = Date.now();
const time = { now: begin };
const clock = patientClock(() => time.now);
vi.stubEnv('WEBHOOK_REACH', 'loopback');
vi.resetModules();
vi.doMock('../../functions/runtime/clock.ts', () => ({ systemClock: clock }));
const delivered = await consumedQueues(sink, clock);

const db = testDb(client, names, { now: clock.now });
const writer = writeApi(db);
/** Users give their batches the same ids: each has a device of its own. */
const batchOf = (userId: string, number: number, more: object = {}) =>
  newBatch(number, { device_type: userId, webhook: receiver.url, ...more });

function eventMessages(user_id: string, ...events: readonly { type: string; data: object }[]): SunkMessage[] {
  return events.map((event, place) => {
    const id = `event ${place}`;
    const body = { id, user_id, time: new Date(begin + place).toISOString(), ...event };
    return { queue: 'Events', body: JSON.stringify(body), attributes: {}, groupId: user_id, deduplicationId: id };
  });
}

interface Scenario {
  /** Makes what the messages are about, and returns them. */
  readonly messages: (userId: string) => Promise<SunkMessage[]> | SunkMessage[];
  /** What comes after the first delivery. */
  readonly later?: (userId: string) => Promise<unknown>;
}

const scenarios: Record<QueueName, Scenario> = {
  Events: {
    messages: (userId) =>
      eventMessages(
        userId,
        { type: 'job.updated', data: { job_id: newJob(3).id, status: 'DONE' } },
        { type: 'batch.created', data: batchOf(userId, 1, { open: true, jobs: [newJob(1), newJob(2)] }) },
        { type: 'jobs.added', data: { batch_id: newBatch(1).id, jobs: [newJob(3)] } },
        { type: 'batch.updated', data: { batch_id: newBatch(1).id, tags: ['a'], status: 'RUNNING' } },
        { type: 'job.updated', data: { job_id: newJob(1).id, status: 'DONE' } },
        { type: 'job.updated', data: { job_id: newJob(2).id, status: 'ERROR', errors: ['lost'] } },
        { type: 'job.updated', data: { job_id: newJob(2).id, status: 'DONE' } },
        { type: 'batch.updated', data: { batch_id: newBatch(1).id, open: false } },
      ),
  },
  WaitingEvents: {
    messages: (userId) =>
      eventMessages(
        userId,
        { type: 'job.updated', data: { job_id: newJob(1).id, status: 'DONE' } },
        { type: 'batch.updated', data: { batch_id: newBatch(1).id, tags: ['a'] } },
      ).map(({ body }, at) => ({
        queue: 'WaitingEvents',
        body,
        attributes: { message_id: `message ${at}`, group_id: userId, sent_at: String(begin) },
      })),
    later: (userId) => writer.createBatch(userId, batchOf(userId, 1, { jobs: [newJob(1), newJob(2)] })),
  },
  Recovery: {
    async messages(userId) {
      await writer.createBatch(
        userId,
        batchOf(userId, 1, { jobs: Array.from({ length: 120 }, (_, at) => newJob(at)) }),
      );
      await writer.createBatch(userId, batchOf(userId, 2, { jobs: [newJob(200)] }));
      const dying = { ...db, client: dyingClient(client, 1).client };
      await expect(cancelBatch(dying, { userId, batchId: newBatch(1).id })).rejects.toThrow('killed');
      const bodies = [1, 2].map((number) => ({ user_id: userId, batch_id: newBatch(number).id }));
      return bodies.map((body) => ({ queue: 'Recovery', body: JSON.stringify(body), attributes: {} }));
    },
  },
  Webhooks: {
    async messages(userId) {
      for (const number of [1, 2, 3]) await writer.createBatch(userId, batchOf(userId, number));
      const common = { user_id: userId, job: null, status: 'DONE', updated_at: '2026-11-21T16:45:20.180000Z' };
      return ['works', 'fails', 'gone'].map((path, at) => {
        const [batch_id, webhook] = [newBatch(at + 1).id, `${receiver.url}/${path}`];
        const body = { ...common, id: `msg_${uuid('d', at)}`, webhook, batch_id, attempts: 0, wait_seconds: 0 };
        return { queue: 'Webhooks', body: JSON.stringify(body), attributes: {}, groupId: userId };
      });
    },
  },
};

/** The first call of /fails is refused, and each of /gone. */
function answerAnew() {
  let failures = 0;
  receiver.messages.length = 0;
  receiver.answer = ({ url }, response) => {
    const isRefused = url === '/gone' || (url === '/fails' && failures++ === 0);
    response.writeHead(url === '/gone' ? 410 : isRefused ? 503 : 204).end();
  };
}

/** Delivers all that waits, until nothing does. */
async function deliverAll(copies: number) {
  for (let hours = 0; delivered.size() > 0; hours++) {
    expect(hours).toBeLessThan(30);
    await delivered.deliver(copies);
    time.now += 3_600_000;
  }
}

/** All that is left of a user's messages, without the user's name. */
async function left(userId: string) {
  const { batches, jobs } = await soundRows(client, names, userId);
  const attempts = await Promise.all(batches.map(({ id }) => getLastAttempt(db, { user_id: userId, batch_id: id })));
  const calls = receiver.messages.map(({ headers, body }) => `${headers['webhook-id']} ${body}`);
  const texts = {
    rows: [...batches, ...jobs],
    attempts: attempts.map((attempt) => attempt?.outcome),
    calls: [...new Set(calls)].sort(),
    deadLetters: [...new Set(delivered.deadLetters.map(({ body }) => body))],
  };
  const anyOrder = (name: string, value: unknown) => (name === 'rev' ? undefined : value);
  return JSON.parse(JSON.stringify(texts, anyOrder).replaceAll(userId, 'user'));
}

async function run({ messages, later }: Scenario, copies: number) {
  const userId = randomUUID();
  time.now = begin;
  delivered.deadLetters.length = 0;
  answerAnew();
  for (const message of await messages(userId)) delivered.send(message);
  await delivered.deliver(copies);
  await later?.(userId);
  await deliverAll(copies);
  return userId;
}

describe('messages that are delivered more than once', () => {
  it.each(Object.keys(queues) as QueueName[])('do what one delivery does: %s', async (queue) => {
    const once = await left(await run(scenarios[queue], 1));
    delivered.repeat(() => []);
    const userId = await run(scenarios[queue], 2);
    expect(await left(userId)).toEqual(once);
    for (const order of [<Each>(all: readonly Each[]) => all, <Each>(all: readonly Each[]) => all.toReversed()]) {
      delivered.repeat(order);
      await deliverAll(2);
      expect(await left(userId)).toEqual(once);
    }
    expect(once.rows.length).toBeGreaterThan(0);
    delivered.repeat(() => []);
  });
});
