/**
 * Calls of many jobs at a DynamoDB that throttles each partition key, as AWS does. No key has saved
 * units, so that the first transaction is refused on any machine.
 */

import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, type TestContext, vi } from 'vitest';
import { cancelBatch } from '../../functions/data/batches/cancellations.ts';
import { addJobs, createBatch } from '../../functions/data/batches/new-batches.ts';
import { recoverBatch } from '../../functions/data/batches/recovery.ts';
import { requestCreation } from '../../functions/data/lifecycle/request-creation.ts';
import type { ScheduleRecovery } from '../../functions/data/lifecycle/schedule-recovery.ts';
import { Claims } from '../../functions/schemas/claims.ts';
import type { RecoveryRequest } from '../../functions/schemas/recovery-request.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { itemsOfOwner } from '../support/items-of-owner.ts';
import { newBatch, newBatchRequest, newJob } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { batchesAndJobs, soundRows } from '../support/owner-rows.ts';
import { smallLists } from '../support/small-lists.ts';
import { testClient } from '../support/test-client.ts';
import { testDb } from '../support/test-db.ts';
import { startThrottlingProxy, type Throughput } from '../support/throttling-proxy.ts';
import { allResults, leaseFrom, newNames, workerStack } from '../support/worker-stack.ts';

// Other tests are not slowed down.
vi.unmock('../../functions/data/dynamodb/write-pace.ts');

/** So few that 20 jobs take some ten transactions. */
const rowsPerBlock = 1;
const { client, tables } = await ownTables();
const db = testDb(client, tables, { formats: smallLists(rowsPerBlock) });
const claims = Claims.parse({});

/** A key has 200 units in 100 ms; a transaction takes about 110 of Columns. */
async function throttled({ onTestFinished }: TestContext, throughput: Throughput = {}) {
  const now = () => 10 * performance.now();
  const proxy = await startThrottlingProxy(dynamodbEndpoint, {
    ...{ writeUnits: 200, readUnits: 1e9, savedUnits: 0, now },
    ...throughput,
  });
  onTestFinished(() => proxy.stop());
  const through = testClient(proxy.url);
  const counts = () => proxy.counts.get('TransactWriteItems') ?? { calls: 0, refused: 0 };
  return { proxy, through, counts };
}

/** The database with a clock on which a call has taken `elapsed` milliseconds. */
const withElapsed = (elapsed: () => number, through = client) => ({
  ...{ ...db, client: through },
  clock: { ...db.clock, elapsed },
});
/** The time of every call is over once it has begun. */
const hurried = withElapsed(() => performance.now() * 1e6);

const callsOf = (db: ReturnType<typeof withElapsed>) => ({
  create: (userId: string, jobs: number, idempotencyKey?: string) =>
    createBatch(db, { userId, idempotencyKey, claims }, newBatchRequest(jobs)),
  cancel: (userId: string, batchId: string) => cancelBatch(db, { userId, batchId }),
});

const newUser = () => `auth0|${randomUUID()}`;

async function sound(userId: string) {
  const { batches, jobs } = await soundRows(client, tables, userId, rowsPerBlock);
  for (const { creating, canceling, pending_calls } of batches) {
    expect([creating, canceling, pending_calls]).toEqual([undefined, undefined, undefined]);
  }
  return { batches, jobs: jobs.map(({ status }) => status) };
}

describe('calls of many jobs', { concurrent: true }, () => {
  it.for(['none', 'half', 'all'] as const)(
    'end where keys are throttled and a refused transaction uses up %s of what is left, without reading again',
    async (refusalUses, context) => {
      const free = await throttled(context, { writeUnits: 1e9, savedUnits: 1e9 });
      const scarce = await throttled(context, { refusalUses });
      for (const { through } of [free, scarce]) {
        const userId = newUser();
        const { create, cancel } = callsOf({ ...db, client: through });
        const { id } = await create(userId, 20);
        expect((await cancel(userId, id)).jobs_count_per_status).toMatchObject({ CANCELED: 20, PENDING: 0 });
        expect((await sound(userId)).jobs).toEqual(Array(20).fill('CANCELED'));
      }
      const { calls, refused } = scarce.counts();
      expect(refused).toBeGreaterThan(0);
      expect({ calls: calls - refused, refused: 0 }).toEqual(free.counts());
      // No further reads, and no look at the writers' lock.
      for (const operation of ['BatchGetItem', 'PutItem', 'Query']) {
        expect(scarce.proxy.counts.get(operation), operation).toEqual(free.proxy.counts.get(operation));
      }
    },
  );

  it('both succeed when two of one user come at once', async (context) => {
    const { through, counts } = await throttled(context);
    const userId = newUser();
    const { create, cancel } = callsOf({ ...db, client: through });
    const created = await Promise.all([create(userId, 15), create(userId, 15)]);
    expect((await sound(userId)).jobs).toEqual(Array(30).fill('PENDING'));
    await Promise.all(created.map(({ id }) => cancel(userId, id)));
    expect((await sound(userId)).jobs).toEqual(Array(30).fill('CANCELED'));
    expect(counts().refused).toBeGreaterThan(0);
  });

  it('leave room for a worker who runs jobs of the same user', async (context) => {
    const { through, counts } = await throttled(context);
    const { device, user } = newNames();
    const clock = { now: Date.now() };
    const stack = workerStack(through, tables, clock);
    await workerStack(client, tables, clock).create(user, { device_type: device, jobs: 6 });
    const creation = stack.create(user, { device_type: device, jobs: 300 });
    const claim = (await stack.claim(device, 'worker'))!;
    const reported: string[] = [];
    for (let job: { readonly id: string } | null = claim.job; job !== null; ) {
      reported.push(job.id);
      ({ job } = await stack.report(leaseFrom(claim), job.id));
    }
    expect(reported).toHaveLength(6);
    expect((await creation).jobs_count).toBe(300);
    expect(counts().refused).toBeGreaterThan(0);
    const { jobs } = await batchesAndJobs(client, tables, user);
    expect(jobs.map(({ status }) => status).filter((status) => status === 'DONE')).toHaveLength(6);
  });

  it('take no more than a second’s units of a key in one transaction, however large sequences and variables are', async (context) => {
    const { through, counts } = await throttled(context, { writeUnits: 1_000 });
    const userId = newUser();
    const { jobs: _, ...create } = newBatch(0);
    const jobs = Array.from({ length: 20 }, (_, at) =>
      newJob(at, { variables: { text: randomBytes(23_000).toString('base64') } }),
    );
    const sequences = new Map([create.id, jobs[0]!.id, jobs[1]!.id].map((id) => [id, randomBytes(350 * 1_024)]));
    // As the second of a key takes 100 ms.
    const clock = { ...db.clock, sleep: (milliseconds: number) => delay(milliseconds / 10) };
    await requestCreation({ ...db, client: through, clock }, userId, { batchId: create.id, create, jobs, sequences });
    expect((await sound(userId)).jobs).toHaveLength(20);
    expect((await itemsOfOwner(client, tables.Sequences, userId)).map(({ id }) => id).sort()).toEqual(
      [...sequences.keys(), ...jobs.map(({ id }) => `${id}#variables`)].sort(),
    );
    expect(counts().calls - counts().refused).toBeGreaterThan(3);
  });

  it('stop when there is no time for all, and go on by the same key', async () => {
    const userId = newUser();
    const { create } = callsOf(hurried);
    const begun = async () => (await batchesAndJobs(client, tables, userId)).jobs.length;
    for (const stop of [1, 2]) {
      const before = await begun();
      await expect(create(userId, 20, 'key')).rejects.toMatchObject({
        status: 429,
        reason: 'unfinished',
        headers: { 'Retry-After': '5' },
        message: expect.stringContaining('Idempotency-Key'),
      });
      expect(await begun(), `stop ${stop}`).toBeGreaterThan(before);
    }
    const { id } = await callsOf(db).create(userId, 20, 'key');
    expect((await callsOf(db).create(userId, 20, 'key')).id).toBe(id);
    const { batches, jobs } = await sound(userId);
    expect(batches).toMatchObject([{ id, status: 'PENDING', jobs_count: 20 }]);
    expect(jobs).toHaveLength(20);
  });

  it('stop when there is no time for all cancellations, which recovery completes', async () => {
    const userId = newUser();
    const usual = testDb(client, tables);
    // More than a transaction holds.
    const { id } = await createBatch(usual, { userId, claims }, newBatchRequest(100));
    const { cancel } = callsOf({ ...usual, clock: hurried.clock });
    await expect(cancel(userId, id)).rejects.toMatchObject({ reason: 'unfinished' });
    expect((await batchesAndJobs(client, tables, userId)).batches).toMatchObject([{ canceling: true, open: false }]);
    expect(await recoverBatch(usual, allResults, { user_id: userId, batch_id: id })).toBe('canceled');
    const { jobs } = await soundRows(client, tables, userId);
    expect(jobs.map(({ status }) => status)).toEqual(Array(100).fill('CANCELED'));
  });

  it('are refused and given up at once where they stopped without a key', async () => {
    const userId = newUser();
    const handed: RecoveryRequest[] = [];
    const handOver: ScheduleRecovery = async ({ userId: user_id, batchId: batch_id, call }, afterSeconds) => {
      if (afterSeconds > 0) return;
      handed.push({ user_id, batch_id, ...(call && { call }) });
      throw new Error('The queue does not answer.');
    };
    const tooMany = { status: 413, reason: 'payload_too_large', message: expect.stringContaining('fewer') };
    const call = { userId, claims };
    await expect(createBatch(hurried, call, newBatchRequest(20), handOver)).rejects.toMatchObject(tooMany);
    const [begun] = (await batchesAndJobs(client, tables, userId)).batches;
    expect(begun).toMatchObject({ creating: true });
    const open = await createBatch(db, call, { ...newBatchRequest(1), open: true });
    const further = { batchId: open.id, body: newBatchRequest(20).jobs };
    await expect(addJobs(hurried, call, further, handOver)).rejects.toMatchObject(tooMany);
    expect(handed).toMatchObject([
      { batch_id: begun!.id },
      { batch_id: open.id, call: { job_ids: expect.anything() } },
    ]);
    for (const request of handed) expect(await recoverBatch(db, allResults, request)).toBe('canceled');
    const { batches, jobs } = await sound(userId);
    expect(batches.map(({ status }) => status).sort()).toEqual(['CANCELED', 'PENDING']);
    expect(jobs.filter((status) => status !== 'CANCELED')).toEqual(['PENDING']);
  });

  it('stop where their key stays throttled until their time is over', async (context) => {
    const userId = newUser();
    const { through, counts } = await throttled(context, { savedUnits: 200, now: () => 0 });
    const { create } = callsOf(withElapsed(() => (counts().refused > 2 ? 30_000 : 0), through));
    await expect(create(userId, 20, 'key')).rejects.toMatchObject({
      reason: 'unfinished',
      cause: { reason: 'busy' },
    });
    expect(counts().refused).toBe(3);
    await callsOf(db).create(userId, 20, 'key');
    expect((await sound(userId)).jobs).toHaveLength(20);
  });
});
