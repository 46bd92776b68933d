/** The long calls that a user may have under way, and how endpoints refuse the others. */

import { randomUUID } from 'node:crypto';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, describe, expect, it } from 'vitest';
import { type CountedKind, maxCallsAtOnce, withPlace } from '../../functions/data/limits/calls-at-once.ts';
import { countTest, maxTestsPerMinute } from '../../functions/data/webhooks/host-limits.ts';
import type { RouteName } from '../../functions/routes.ts';
import { userSubject } from '../../functions/schemas/limits.ts';
import { timeLimits } from '../../functions/time-limits.ts';
import { ask } from '../support/ask.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import type { GatewayRequest } from '../support/gateway-event.ts';
import { heldPlaces } from '../support/held-places.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { ownerRows, soundRows } from '../support/owner-rows.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const sink = await startMessageSink();
afterAll(() => sink.stop());

const db = testDb(client, names);
const writes = writeApi(db);
const newUser = () => `auth0|${randomUUID()}`;
const takePlaces = (userId: string, count: number, kind: CountedKind = 'changes', on = db) =>
  heldPlaces(on, { userId, kind }, count);
const refused = { name: 'TooManyCalls', headers: { 'Retry-After': '5' } };

const placesOf = async (userId: string, kind = 'changes') => {
  const Key = { subject: userSubject(userId), name: `places ${kind}` };
  const { Item = {} } = await client.send(new GetCommand({ TableName: names.Counters, Key, ConsistentRead: true }));
  return Item;
};

describe('the long calls of a user', () => {
  it('are five at once, also where all begin together; each that ends leaves its place', async () => {
    const userId = newUser();
    const first = await takePlaces(userId, 20);
    expect(first.taken).toBe(5);
    for (const outcome of first.outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(refused);
    }
    expect((await takePlaces(newUser(), 1)).taken).toBe(1);
    expect((await takePlaces(userId, 9, 'tests')).taken).toBe(3);
    expect((await takePlaces(userId, 1)).taken).toBe(0);
    await first.end();
    expect((await takePlaces(userId, 6)).taken).toBe(5);
  });

  it('are five at once, however many begin in the same millisecond', async () => {
    const now = Date.now();
    const stopped = testDb(client, names, { now: () => now });
    expect((await takePlaces(newUser(), 300, 'changes', stopped)).taken).toBe(5);
  });

  it('lose the places of those that died, and leave no item for good', async () => {
    const [userId, clock] = [newUser(), { now: Date.parse('2026-11-22T12:00:00Z') }];
    const timed = testDb(client, names, { now: () => clock.now });
    const dead = await takePlaces(userId, 5, 'changes', timed);
    clock.now += 1_000 * timeLimits.heldPlace - 1;
    expect((await takePlaces(userId, 1, 'changes', timed)).taken).toBe(0);
    clock.now += 1;
    const later = await takePlaces(userId, 5, 'changes', timed);
    expect(later.taken).toBe(5);
    // The calls that seemed dead end after all: they have no places any more.
    await dead.end();
    expect((await takePlaces(userId, 1, 'changes', timed)).taken).toBe(0);
    expect((await placesOf(userId)).expires_at).toBe(Math.floor(clock.now / 1_000) + 3_600);
    await later.end();
    expect(Object.keys(await placesOf(userId)).sort()).toEqual(['expires_at', 'name', 'subject']);
  });

  it('take one place each, also where the SDK repeats what was written already', async () => {
    const userId = newUser();
    const repeating = interceptedClient(client, async ({ send }) => {
      await send();
      return send();
    });
    expect((await takePlaces(userId, 5, 'changes', testDb(repeating, names))).taken).toBe(5);
    expect((await takePlaces(userId, 1)).taken).toBe(0);
  });

  it('cost nothing before they begin, then two updates; what they throw goes on', async () => {
    const [userId, updates] = [newUser(), [] as string[]];
    const counted = interceptedClient(client, ({ name, send }) => {
      updates.push(name);
      return send();
    });
    const call = { userId, kind: 'changes' } as const;
    expect(await withPlace(testDb(counted, names), call, async () => 'short')).toBe('short');
    expect(updates).toEqual([]);
    const failing = withPlace(testDb(counted, names), call, async (begin) => {
      await begin();
      await begin();
      throw new RangeError('lost');
    });
    await expect(failing).rejects.toThrow(RangeError);
    expect(updates).toEqual(['UpdateCommand', 'UpdateCommand']);
    expect((await takePlaces(userId, 5)).taken).toBe(5);
  });
});

/** Its calls keep their places for an hour, however slow the machine is. */
const ahead = testDb(client, names, { now: () => Date.now() + 3_600_000 });

describe('an endpoint', () => {
  const batchOf = (jobs: number) => ({
    device_type: 'FRESNEL',
    project_id: uuid('c', 1),
    sequence_builder: sequenceText(),
    jobs: Array.from({ length: jobs }, () => ({ runs: 100 })),
  });
  const manyJobs = batchOf(300);
  const jobsWithSequences = manyJobs.jobs.map((job) => ({ ...job, sequence: sequenceText() }));

  it.each<[RouteName, (batchId: string, open: string) => GatewayRequest]>([
    ['createBatch', () => ({ body: manyJobs, headers: { 'Idempotency-Key': 'k' } })],
    ['addJobs', (_, open) => ({ path: { batch_id: open }, body: jobsWithSequences })],
    ['rebatch', (batchId) => ({ path: { batch_id: batchId } })],
    ['cancelBatch', (batchId) => ({ path: { batch_id: batchId } })],
    ['cancelJobs', (batchId) => ({ path: { batch_id: batchId } })],
    ['cancelBatches', (batchId, open) => ({ body: { batch_ids: [batchId, open] } })],
  ])('of many writes, %s, is refused without a place and changes nothing; later it succeeds', async (route, of) => {
    const userId = newUser();
    const jobs = Array.from({ length: 300 }, (_, at) => newJob(at + 1));
    await writes.createBatch(userId, newBatch(1, { jobs }));
    await writes.createBatch(userId, newBatch(2, { jobs: [newJob(301)], open: true }));
    const before = await ownerRows(client, names, userId);
    const others = await takePlaces(userId, 5, 'changes', ahead);
    const request = { userId, ...of(uuid('b', 1), uuid('b', 2)) };
    const { status, headers, data } = await ask(route, request);
    expect({ status, data }).toMatchObject({ status: 429, data: { reason: 'too_many_changes' } });
    expect(headers['Retry-After']).toBe('5');
    expect(await ownerRows(client, names, userId)).toEqual(before);
    await others.end();
    expect((await ask(route, request)).status).toBe(200);
    expect(Object.keys(await placesOf(userId)).sort()).toEqual(['expires_at', 'name', 'subject']);
    await soundRows(client, names, userId);
  });

  it('of one transaction needs no place', async () => {
    const userId = newUser();
    await takePlaces(userId, 5, 'changes', ahead);
    const created = await ask('createBatch', { userId, body: batchOf(2) });
    expect(created.status).toBe(200);
    const path = { batch_id: (created.data as { id: string }).id };
    expect((await ask('cancelBatch', { userId, path })).status).toBe(200);
    expect((await placesOf(userId)).place_4).toBeDefined();
  });
});

describe('tests of webhooks', () => {
  it('are three at once, ten in a minute, for each user', async () => {
    const userId = newUser();
    await writes.createBatch(userId, newBatch(1, { webhook: 'http://127.0.0.1:9/' }));
    const test = () => ask('testWebhook', { userId, path: { batch_id: uuid('b', 1) } });
    const others = await takePlaces(userId, maxCallsAtOnce.tests, 'tests', ahead);
    expect(await test()).toMatchObject({ status: 429, data: { reason: 'too_many_tests' } });
    await others.end();
    const clock = { now: Date.parse('2026-11-22T12:00:50Z') };
    const timed = testDb(client, names, { now: () => clock.now });
    const counts = () => Promise.allSettled(Array.from({ length: 12 }, () => countTest(timed, userId)));
    const rejected = (await counts()).flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(rejected).toHaveLength(12 - maxTestsPerMinute);
    for (const reason of rejected) expect(reason).toMatchObject({ ...refused, headers: { 'Retry-After': '10' } });
    await countTest(timed, newUser());
    clock.now += 10_000;
    await countTest(timed, userId);
  });
});
