/**
 * What users and workers see while indexes lag: nothing is lost, nothing comes twice, and no call
 * waits for an index.
 */

import type { S3Client } from '@aws-sdk/client-s3';
import { DeleteCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { getBatchDetails } from '../../functions/data/batches/batch-details.ts';
import { listResultsKeys } from '../../functions/data/batches/batch-results.ts';
import { cancelJobs } from '../../functions/data/batches/cancellations.ts';
import { eraseBatch } from '../../functions/data/batches/erasures.ts';
import { addJobs } from '../../functions/data/batches/new-batches.ts';
import { recoverBatch } from '../../functions/data/batches/recovery.ts';
import { countBatches, listBatches } from '../../functions/data/rows/batches.ts';
import { countJobs, listJobs } from '../../functions/data/rows/jobs.ts';
import { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import { AddJobsRequest } from '../../functions/schemas/batch-request.ts';
import { JobListQuery } from '../../functions/schemas/job-list-query.ts';
import { CancelJobsQuery } from '../../functions/schemas/job-selection.ts';
import type { LeaseReference } from '../../functions/schemas/lease.ts';
import type { RecoveryRequest } from '../../functions/schemas/recovery-request.ts';
import { repairCounters } from '../../infra/repair/repair-counters.ts';
import { repairQueues } from '../../infra/repair/repair-queues.ts';
import { repairUser } from '../../infra/repair/repair-user.ts';
import { changeItem } from '../support/change-item.ts';
import { dyingClient } from '../support/dying-client.ts';
import { laggingClient } from '../support/lagging-client.ts';
import { ownTables } from '../support/own-tables.ts';
import { recountOf } from '../support/owner-rows.ts';
import { withoutRole } from '../support/without-role.ts';
import { allResults, leaseFrom, newNames, workerStack } from '../support/worker-stack.ts';

const { client, tables: names } = await ownTables();

/** A bucket without any object. */
const noResults = { name: 'empty', client: { send: async () => ({}) } as unknown as S3Client };

/** Every second item, by its id. */
const isEven = ({ id }: Readonly<Record<string, unknown>>) => Number.parseInt(String(id).at(-1)!, 16) % 2 === 0;

const lags: Readonly<Record<string, (key: Readonly<Record<string, unknown>>) => number>> = {
  '10 ms': () => 10,
  '1 s': () => 1_000,
  '60 s': () => 60_000,
  '60 s for every second row': (key) => (isEven(key) ? 60_000 : 0),
};

/** A stack whose indexes lag. Sleeping takes time of its clock, and none of ours. */
async function laggingStack(lagOf: (key: Readonly<Record<string, unknown>>) => number) {
  const clock = {
    now: Date.parse('2026-11-21T12:00:00Z'),
    async sleep(milliseconds: number) {
      clock.now += Math.ceil(milliseconds);
    },
  };
  const lagging = await laggingClient(client, names, { now: () => clock.now, lagOf });
  return { ...workerStack(lagging, names, clock), clock };
}

describe('a client whose indexes lag', () => {
  it('finds new, changed and deleted items through an index as they were, and otherwise as they are', async () => {
    const clock = { now: 0 };
    const lagging = await laggingClient(client, names, { now: () => clock.now, lagOf: () => 1_000 });
    const read = async (IndexName?: string) => {
      const query = { TableName: names.Batches, KeyConditionExpression: 'user_id = :user', IndexName };
      const ExpressionAttributeValues = { ':user': 'reader' };
      const { Items = [] } = await lagging.send(new QueryCommand({ ...query, ExpressionAttributeValues }));
      return Items.map(({ id, tags }) => `${id} ${tags}`);
    };
    const keyOf = (id: string) => ({ user_id: 'reader', id });
    const put = (id: string, tags: string) =>
      lagging.send(new PutCommand({ TableName: names.Batches, Item: { ...keyOf(id), seq: Number(id), tags } }));
    const seen = async () => [await read('by_creation'), await read()];
    await put('1', 'old');
    await put('2', 'old');
    expect(await seen()).toEqual([[], ['1 old', '2 old']]);
    clock.now += 999;
    expect(await seen()).toEqual([[], ['1 old', '2 old']]);
    clock.now += 1;
    expect(await seen()).toEqual([
      ['1 old', '2 old'],
      ['1 old', '2 old'],
    ]);
    await changeItem(lagging, names.Batches, { Key: keyOf('1'), attributes: { tags: 'new' } });
    await lagging.send(new DeleteCommand({ TableName: names.Batches, Key: keyOf('2') }));
    expect(await seen()).toEqual([['1 old', '2 old'], ['1 new']]);
    clock.now += 1_000;
    expect(await seen()).toEqual([['1 new'], ['1 new']]);
  });
});

describe.each(Object.entries(lags))('while indexes lag by %s', async (_, lagOf) => {
  const stack = await laggingStack(lagOf);
  const { db, clock } = stack;
  const expectSound = async (user: string) => expect(await recountOf(client, names, user)).toEqual([]);
  const listOf = (user: string, query: object) => listJobs(db, withoutRole(user), JobListQuery.parse(query));
  const idsOf = async (user: string, query: object) => {
    const { items, total } = await listOf(user, { order_by: ['ordered_id'], order_by_direction: ['ASC'], ...query });
    expect(total).toBe(items.length);
    return items.map(({ id }) => id);
  };
  /** Runs what is left of a batch, and returns its jobs in the order in which they came. */
  const runAll = async (lease: LeaseReference, first: string) => {
    const run = [first];
    for (;;) {
      const { job } = await stack.report(lease, run.at(-1)!);
      if (job === null) return run;
      run.push(job.id);
    }
  };
  /** Does this without a wait for an index. A refusal is only believed once it was read twice. */
  const atOnce = async <Value>(work: () => Promise<Value>) => {
    const begun = clock.now;
    const value = await work();
    expect(clock.now - begun).toBeLessThan(100);
    return value;
  };
  const letPass = () => clock.sleep(60_000);

  it('a batch is claimed and run at once, each job of it once and in order', () =>
    atOnce(async () => {
      const { user, batch, claim, lease } = await stack.held({ jobs: 7 });
      expect(await runAll(lease, claim.job.id)).toEqual(batch.jobs!.map(({ id }) => id));
      expect(await stack.batch(user, batch.id)).toMatchObject({ status: 'DONE' });
      await expectSound(user);
    }));

  it('an open batch that gets one job at a time is given each of them at once', () =>
    atOnce(async () => {
      const { device, user, batch, claim, lease } = await stack.held({ open: true });
      const run = [claim.job.id];
      for (const isBefore of [true, false, true, false]) {
        if (isBefore) await stack.add(user, batch.id, 1);
        const { job } = await stack.report(lease, run.at(-1)!);
        expect(job !== null).toBe(isBefore);
        if (!isBefore) await stack.add(user, batch.id, 1);
        run.push((job ?? (await stack.next(lease)).job)!.id);
      }
      expect(await stack.report(lease, run.at(-1)!)).toMatchObject({ job: null, done: false });
      expect(run).toEqual(await idsOf(user, { batch_id: [batch.id] }));
      // Without a worker it leaves the queue, until it gets a further job.
      await stack.release(lease);
      await stack.add(user, batch.id, 1);
      expect((await stack.claimed(device)).job.id).toBe((await idsOf(user, { batch_id: [batch.id] })).at(-1));
      await expectSound(user);
    }));

  it('a lease is given up, and the same job handed out again', () =>
    atOnce(async () => {
      const { device, user, claim, lease } = await stack.held({ jobs: 2 });
      await stack.release(lease);
      expect(await stack.job(user, claim.job.id)).toMatchObject({ status: 'PENDING', start_timestamp: null });
      expect((await stack.claimed(device)).job.id).toBe(claim.job.id);
      await expectSound(user);
    }));

  it('an open batch that a worker has had for long goes on with its job, then goes behind', async () => {
    const { device, user } = newNames();
    await stack.announce(device, { max_batch_seconds: 5 });
    const batch = await stack.create(user, { device_type: device, open: true });
    const claim = await stack.claimed(device);
    const lease = leaseFrom(claim);
    await clock.sleep(5_000);
    await atOnce(async () => {
      expect((await stack.next(lease)).job?.id).toBe(claim.job.id);
      await stack.add(user, batch.id, 1);
      expect(await stack.report(lease, claim.job.id)).toMatchObject({ job: null, done: true });
      expect((await stack.claimed(device)).job.id).toBe((await idsOf(user, { batch_id: [batch.id] }))[1]);
    });
    await expectSound(user);
  });

  it('jobs that were canceled are passed over, although an index shows them as they were', async () => {
    const { device, user } = newNames();
    const { id, jobs } = await stack.create(user, { device_type: device, jobs: 9 });
    await letPass();
    await atOnce(async () => {
      await cancelJobs(db, { userId: user, batchId: id }, CancelJobsQuery.parse({ max_runs: ['7'] }));
      const claim = await stack.claimed(device);
      expect(await runAll(leaseFrom(claim), claim.job.id)).toEqual([jobs![7]!.id, jobs![8]!.id]);
    });
    await expectSound(user);
  });

  it('a device that is paused starts nothing, and goes on where it was', async () => {
    const { device, user, claim, lease } = await stack.held({ jobs: 2 });
    await stack.set(device, { mode: 'PAUSED', reason: 'why' });
    await atOnce(async () => {
      expect(await stack.report(lease, claim.job.id)).toMatchObject({ job: null, done: true });
      expect(await stack.claim(device, 'worker')).toBeUndefined();
      await stack.set(device, { mode: 'OPEN' });
      const again = await stack.claimed(device);
      expect(await runAll(leaseFrom(again), again.job.id)).toHaveLength(1);
    });
    await expectSound(user);
  });

  it('details, lists, totals and counts agree with each other, and later show everything', async () => {
    const { user, batch, claim, lease } = await stack.held({ jobs: 5 });
    const ids = batch.jobs!.map(({ id }) => id);
    await stack.report(lease, claim.job.id);
    await stack.cancelJob(user, ids[4]!);
    const byStatus = { DONE: [ids[0]!], RUNNING: [ids[1]!], PENDING: [ids[2]!, ids[3]!], CANCELED: [ids[4]!] };
    const statuses = Object.entries(byStatus).flatMap(([status, of]) => of.map((id) => ({ id, status })));
    const ofStatus = BatchListQuery.parse({ status: ['RUNNING'] });
    const check = async () => {
      for (const query of [{}, { batch_id: [batch.id] }, { batch_id: [batch.id], order_by: ['created_at'] }]) {
        expect(await idsOf(user, query)).toEqual(ids);
      }
      for (const [status, of] of Object.entries(byStatus)) {
        expect(await idsOf(user, { status: [status] })).toEqual(of);
        expect(await idsOf(user, { status: [status], batch_id: [batch.id] })).toEqual(of);
      }
      expect(await countJobs(db, withoutRole(user), JobListQuery.parse({}))).toMatchObject({
        DONE: 1,
        RUNNING: 1,
        PENDING: 2,
        CANCELED: 1,
      });
      expect(await countBatches(db, withoutRole(user), BatchListQuery.parse({}))).toMatchObject({
        RUNNING: 1,
        PENDING: 0,
      });
      expect(await listBatches(db, withoutRole(user), ofStatus)).toMatchObject({ items: [{ id: batch.id }], total: 1 });
      const details = await getBatchDetails(db, user, batch.id);
      expect(details!.jobs!.map(({ id, status }) => ({ id, status }))).toEqual(statuses);
    };
    await check();
    await letPass();
    await check();
    const listed = await listOf(user, { batch_id: [batch.id], order_by: ['ordered_id'], order_by_direction: ['ASC'] });
    expect(listed.items.map(({ id, status }) => ({ id, status }))).toEqual(statuses);
  });

  it('the results of every job that is DONE are found', async () => {
    const { user, batch, claim, lease } = await stack.held({ jobs: 3 });
    const run = [];
    for (let job: { readonly id: string } | null = claim.job; job !== null; ) {
      await stack.uploadKey(lease, job.id, 'a'.repeat(64));
      run.push(job.id);
      ({ job } = await stack.report(lease, job.id, { status: 'DONE', results: true }));
      expect([...(await listResultsKeys(db, { userId: user, batchId: batch.id }))!.keys()]).toEqual(run);
    }
    expect(run).toHaveLength(3);
  });

  it('a batch is canceled with all its jobs, and erased', async () => {
    const { device, user, batch, lease, claim } = await stack.held({ jobs: 4 });
    const of = { userId: user, batchId: batch.id };
    await atOnce(async () => {
      await stack.cancel(user, batch.id);
      expect(await stack.heartbeat(lease, claim.job.id)).toMatchObject({ cancel: true });
      expect(await stack.next(lease)).toMatchObject({ job: null, done: true });
      expect(await stack.claim(device, 'another')).toBeUndefined();
      expect(await idsOf(user, { status: ['CANCELED'] })).toEqual(batch.jobs!.map(({ id }) => id));
      await eraseBatch(db, noResults, of);
    });
    expect(await getBatchDetails(db, user, batch.id)).toMatchObject({ jobs_count: 4, sequence_builder: null });
    expect(await idsOf(user, { batch_id: [batch.id] })).toEqual(batch.jobs!.map(({ id }) => id));
    await expectSound(user);
  });

  it('an addition that died is canceled as a whole, and the jobs behind it are handed out', async () => {
    const { user, batch, claim, lease } = await stack.held({ open: true });
    let announced: RecoveryRequest | undefined;
    const dying = { ...db, client: dyingClient(db.client, 1).client };
    const body = AddJobsRequest.parse(Array.from({ length: 120 }, () => ({})));
    const call = { userId: user, idempotencyKey: 'key', claims: { queue_priority: 'MEDIUM' } as const };
    const added = addJobs(dying, call, { batchId: batch.id, body }, async ({ userId, batchId, call }) => {
      announced = { user_id: userId, batch_id: batchId, ...(call && { call }) };
    });
    await expect(added).rejects.toThrow('killed');
    await stack.add(user, batch.id, 1);
    await atOnce(async () => {
      expect(await stack.report(lease, claim.job.id)).toMatchObject({ job: null, done: false, retry_after: 2 });
      expect(await stack.next(lease)).toMatchObject({ job: null, done: false, retry_after: 2 });
      expect(await recoverBatch(db, allResults, announced!)).toBe('canceled');
      expect((await stack.next(lease)).job?.id).toBe((await idsOf(user, { status: ['RUNNING'] }))[0]);
    });
    await expectSound(user);
  });

  it('a repair finds nothing wrong, and mends what was damaged at once', async () => {
    const { user, batch, claim, lease } = await stack.held({ jobs: 3 });
    await stack.report(lease, claim.job.id);
    const repair = async (fix: boolean) => [
      ...(await repairUser({ db, userId: user }, { fix })).remaining,
      ...(await repairQueues({ db, fix, userId: user })),
      ...(await repairCounters({ db, fix, userId: user })),
    ];
    expect(await repair(false)).toEqual([]);
    const [first, second, third] = batch.jobs!.map(({ id }) => id) as [string, string, string];
    const renumber = (id: string, place: number) =>
      changeItem(db.client, names.Jobs, {
        Key: { user_id: user, id },
        attributes: { seq: place, creation_order: place },
      });
    await renumber(first, 1);
    await renumber(third, 1);
    expect(await repair(false)).not.toEqual([]);
    expect(await repair(true)).toEqual([]);
    expect(await repair(false)).toEqual([]);
    expect(await idsOf(user, { status: ['RUNNING'] })).toEqual([second]);
    expect(await idsOf(user, { batch_id: [batch.id] })).toEqual([first, second, third]);
    expect(await runAll(lease, second)).toEqual([second, third]);
    await expectSound(user);
  });
});
