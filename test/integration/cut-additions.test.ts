/** Additions of many jobs that are cut short: no device runs a part of one. */

import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { addJobs } from '../../functions/data/batches/new-batches.ts';
import { recoverBatch } from '../../functions/data/batches/recovery.ts';
import { AddJobsRequest } from '../../functions/schemas/batch-request.ts';
import type { RecoveryRequest } from '../../functions/schemas/recovery-request.ts';
import { deep } from '../support/depth.ts';
import { dyingClient } from '../support/dying-client.ts';
import { ownTables } from '../support/own-tables.ts';
import { soundRows } from '../support/owner-rows.ts';
import { keysInQueue, misplacedBatches } from '../support/user-clocks.ts';
import { allResults, leaseFrom, newNames, workerStack } from '../support/worker-stack.ts';

const { client, tables: names } = await ownTables();
const clock = { now: Date.parse('2026-11-21T12:00:00Z') };
const stack = workerStack(client, names, clock);
const { db } = stack;
const finish = (request: RecoveryRequest) => recoverBatch(db, allResults, request);
const seconds = (number: number) => {
  clock.now += number * 1000;
};

const idempotencyKey = 'key';
const claims = { queue_priority: 'MEDIUM' } as const;
const many = AddJobsRequest.parse(Array.from({ length: 120 }, () => ({})));

/** Adds 120 jobs. About 80 get there. Returns the announced request to finish the addition. */
async function addInPart(userId: string, batchId: string, key = idempotencyKey): Promise<RecoveryRequest> {
  let announced: RecoveryRequest | undefined;
  const dying = { ...db, client: dyingClient(client, 1).client };
  const added = addJobs(dying, { userId, idempotencyKey: key, claims }, { batchId, body: many }, async (unfinished) => {
    const { call } = unfinished;
    announced = { user_id: unfinished.userId, batch_id: unfinished.batchId, ...(call && { call }) };
  });
  await expect(added).rejects.toThrow('killed');
  return announced!;
}

/** The same call again, which adds the rest. */
function addRest(userId: string, batchId: string) {
  return addJobs(db, { userId, idempotencyKey, claims }, { batchId, body: many });
}

/** The batch's jobs in their order. Rows, columns and queue agree. */
async function jobsOf({ device, user }: ReturnType<typeof newNames>) {
  const { batches, jobs } = await soundRows(client, names, user);
  const inQueue = batches.flatMap(({ queue_key }) => (typeof queue_key === 'string' ? [queue_key] : []));
  expect((await keysInQueue(client, names, device, user)).sort()).toEqual(inQueue.sort());
  expect(await misplacedBatches(client, names, { device, user })).toEqual([]);
  return jobs.toSorted((a, b) => a.creation_order - b.creation_order);
}

const waits = { job: null, done: false, retry_after: 2 };
const ended = { job: null, done: true, retry_after: null };

describe('an addition to a batch that has no other jobs', () => {
  it('brings the batch to its device once it is complete', async () => {
    const whose = newNames();
    const { id } = await stack.create(whose.user, { device_type: whose.device, open: true, jobs: 0 });
    await addInPart(whose.user, id);
    expect(await keysInQueue(client, names, whose.device)).toEqual([]);
    expect(await stack.claim(whose.device, 'worker')).toBeUndefined();
    await addRest(whose.user, id);
    expect((await stack.claimed(whose.device)).job.id).toBe((await jobsOf(whose))[0]!.id);
  });

  it('is canceled as a whole where it is not, and the next one brings the batch there', async () => {
    const whose = newNames();
    const { id } = await stack.create(whose.user, { device_type: whose.device, open: true, jobs: 0 });
    expect(await finish(await addInPart(whose.user, id))).toBe('canceled');
    const cut = await jobsOf(whose);
    expect(new Set(cut.map(({ status }) => status))).toEqual(new Set(['CANCELED']));
    expect(await stack.claim(whose.device, 'worker')).toBeUndefined();
    await stack.add(whose.user, id, 1);
    expect((await stack.claimed(whose.device)).job.id).toBe((await jobsOf(whose))[cut.length]!.id);
  });

  it('holds up jobs that were added after it until it is over', async () => {
    const whose = newNames();
    const { id } = await stack.create(whose.user, { device_type: whose.device, open: true, jobs: 0 });
    const cut = await addInPart(whose.user, id);
    const other = await addInPart(whose.user, id, 'another');
    await stack.add(whose.user, id, 1);
    const last = (await jobsOf(whose)).at(-1)!.id;
    for (const each of [cut, other]) {
      expect(await stack.claim(whose.device, 'worker')).toBeUndefined();
      await finish(each);
    }
    const claim = await stack.claimed(whose.device);
    expect(claim.job.id).toBe(last);
    await stack.close(whose.user, id);
    expect(await stack.report(leaseFrom(claim), last)).toEqual(ended);
    await jobsOf(whose);
  });
});

describe('an addition to a batch at a device', () => {
  /** A batch with two jobs. The device runs the first. */
  async function running() {
    const { device, user, batch, lease } = await stack.held({ open: true, jobs: 2 });
    const [first, second] = batch.jobs!.map((job) => job.id) as [string, string];
    return { whose: { device, user }, id: batch.id, lease, first, second };
  }

  it('is run once it is complete; the jobs before it are run meanwhile', async () => {
    const { whose, id, lease, first, second } = await running();
    await addInPart(whose.user, id);
    expect((await stack.report(lease, first)).job?.id).toBe(second);
    expect(await stack.report(lease, second)).toEqual(waits);
    seconds(30);
    expect(await stack.next(lease)).toEqual(waits);
    await addRest(whose.user, id);
    expect((await stack.next(lease)).job?.id).toBe((await jobsOf(whose))[2]!.id);
  });

  it('that died keeps the device for two minutes at most, and the batch is gone on with when it is over', async () => {
    const { whose, id, lease, first, second } = await running();
    const cut = await addInPart(whose.user, id);
    await stack.report(lease, first);
    await stack.report(lease, second);
    for (let asked = 0; asked < 3; asked++) {
      seconds(39);
      expect(await stack.next(lease)).toEqual(waits);
    }
    seconds(4);
    expect(await stack.next(lease)).toEqual(ended);
    // The device has other work, however often it looks at this batch.
    for (let times = 0; times < (deep ? 4 : 2); times++) {
      const other = await stack.create(newNames().user, { device_type: whose.device });
      expect((await stack.claimed(whose.device)).batch.id).toBe(other.id);
      seconds(61);
      const again = await stack.claimed(whose.device);
      expect(again.batch.id).toBe(other.id);
      await stack.report(leaseFrom(again), again.job.id);
      expect(await stack.claim(whose.device, 'worker')).toBeUndefined();
    }
    expect((await jobsOf(whose)).slice(2).every(({ status }) => status === 'PENDING')).toBe(true);
    await stack.add(whose.user, id, 1);
    seconds(6);
    expect(await stack.claim(whose.device, 'worker')).toBeUndefined();
    await finish(cut);
    seconds(6);
    const claim = await stack.claimed(whose.device);
    const all = await jobsOf(whose);
    expect(claim.job.id).toBe(all.at(-1)!.id);
    const ofCall = all.slice(2, -1);
    expect(ofCall.every(({ status, start_timestamp }) => status === 'CANCELED' && start_timestamp === null)).toBe(true);
  });

  it('that died leaves an open batch to wait without a device, and to go on with its next job', async () => {
    const { whose, id, lease, first, second } = await running();
    await stack.report(lease, first);
    await stack.report(lease, second);
    seconds(119);
    const cut = await addInPart(whose.user, id);
    seconds(2);
    expect(await stack.next(lease)).toEqual(ended);
    seconds(6);
    expect(await stack.claim(whose.device, 'worker')).toBeUndefined();
    expect((await stack.batch(whose.user, id))!.status).toBe('PENDING');
    await finish(cut);
    seconds(121);
    expect(await stack.claim(whose.device, 'worker')).toBeUndefined();
    // No worker waits for it any more, so it does not time out.
    expect(await stack.batch(whose.user, id)).toMatchObject({ status: 'PENDING', open: true });
    await stack.add(whose.user, id, 1);
    expect((await stack.claimed(whose.device)).job.id).toBe((await jobsOf(whose)).at(-1)!.id);
  });

  it('that died lets a closed batch end with it', async () => {
    const { whose, id, lease, first, second } = await running();
    const cut = await addInPart(whose.user, id);
    await stack.close(whose.user, id);
    await stack.report(lease, first);
    expect(await stack.report(lease, second)).toEqual(waits);
    await finish(cut);
    expect(await stack.next(lease)).toEqual(ended);
    expect((await stack.batch(whose.user, id))!.status).toBe('DONE');
    await jobsOf(whose);
  });
});

describe('an addition to a batch that waits', () => {
  it('does not get in the way when the jobs before it are canceled', async () => {
    const whose = newNames();
    const batch = await stack.create(whose.user, { device_type: whose.device, open: true });
    await addInPart(whose.user, batch.id);
    await stack.cancelJob(whose.user, batch.jobs![0]!.id);
    const other = await stack.create(newNames().user, { device_type: whose.device });
    const held = await stack.claimed(whose.device);
    expect(held.batch.id).toBe(other.id);
    expect(await stack.claim(whose.device, 'worker')).toBeUndefined();
    expect((await stack.batch(whose.user, batch.id))!.status).toBe('PENDING');
    // Claims look at it now and then, however long it waits.
    const [key] = await keysInQueue(client, names, whose.device, whose.user);
    const fenceOf = async () => {
      const Key = { device_type: whose.device, key };
      return (await client.send(new GetCommand({ TableName: names.DeviceQueue, Key, ConsistentRead: true }))).Item!
        .fence;
    };
    await stack.heartbeat(leaseFrom(held), held.job.id);
    seconds(50);
    for (let times = 0; times < (deep ? 3 : 2); times++) {
      await stack.heartbeat(leaseFrom(held), held.job.id);
      seconds(50);
      const before = await fenceOf();
      for (let claims = 0; claims < 3; claims++) expect(await stack.claim(whose.device, 'worker')).toBeUndefined();
      expect(await fenceOf()).toBe(before + 2);
    }
    await addRest(whose.user, batch.id);
    seconds(6);
    expect((await stack.claimed(whose.device)).job.id).toBe((await jobsOf(whose))[1]!.id);
  });

  it('lets the jobs before it be run', async () => {
    const whose = newNames();
    const batch = await stack.create(whose.user, { device_type: whose.device, open: true });
    const cut = await addInPart(whose.user, batch.id);
    const claim = await stack.claimed(whose.device);
    expect(claim.job.id).toBe(batch.jobs![0]!.id);
    await finish(cut);
    expect(await stack.report(leaseFrom(claim), claim.job.id)).toEqual(waits);
    await jobsOf(whose);
  });
});
