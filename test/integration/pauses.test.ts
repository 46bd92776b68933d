/**
 * An operator pauses a device while workers are at it: once the call has its answer, nothing is
 * handed out, and nothing is lost or run twice.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { randomNumbers } from '../../infra/local/demo/seeded-random.ts';
import { deep } from '../support/depth.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { itemsOfOwner } from '../support/items-of-owner.ts';
import { ownTables } from '../support/own-tables.ts';
import { seed } from '../support/seed.ts';
import { itemsOfQueue } from '../support/user-clocks.ts';
import { leaseFrom, newNames, workerStack } from '../support/worker-stack.ts';

const { client, tables: names } = await ownTables();
const clock = { now: Date.parse('2026-11-22T12:00:00Z') };
const stack = workerStack(client, names, clock);
const pause = { mode: 'PAUSED', reason: 'calibration' };

/** Each batch in the queue with its lease, if a worker has it, and each job with its status. */
async function readState(device: string) {
  const items = await itemsOfQueue(client, names, device);
  const { Items: jobs = [] } = await client.send(new ScanCommand({ TableName: names.Jobs, ConsistentRead: true }));
  return {
    leases: items.flatMap(({ key, fence, lease_until, put_back, job_id }) =>
      lease_until > 0 && put_back !== true ? [`${key} ${fence} ${job_id}`] : [],
    ),
    pending: jobs.flatMap(({ id, status }) => (status === 'PENDING' ? [String(id)] : [])),
  };
}

describe('a start that was decided before the device was paused', () => {
  const ways = {
    claim: async (late: typeof stack, device: string) => (await late.claim(device, 'late')) ?? null,
    'report of another job': async (late: typeof stack, device: string) => {
      const claim = (await stack.claim(device, 'early'))!;
      return () => late.report(leaseFrom(claim), claim.job.id);
    },
    next: async (late: typeof stack, device: string) => {
      const claim = (await stack.claim(device, 'early'))!;
      const lease = leaseFrom(claim);
      await stack.cancelJob(user(device), claim.job.id);
      return () => late.next(lease);
    },
  };
  const user = (device: string) => `auth0|${device}`;

  it.each(Object.entries(ways))('by a %s fails, and its batch keeps its place', async (_, way) => {
    const { device } = newNames();
    await stack.announce(device, {});
    const batch = await stack.create(user(device), { device_type: device, jobs: 3 });
    let hold: Promise<void> | undefined;
    let isHeld: (value?: unknown) => void = () => {};
    const held = new Promise((resolve) => {
      isHeld = resolve;
    });
    let goOn = () => {};
    const slow = interceptedClient(client, async ({ name, send }) => {
      if (name !== 'TransactWriteCommand' || hold !== undefined) return send();
      hold = new Promise((resolve) => {
        goOn = resolve;
      });
      isHeld();
      await hold;
      return send();
    });
    const late = workerStack(slow, names, clock);
    const begun = way === ways.claim ? () => ways.claim(late, device) : await way(late, device);
    const answer = (begun as () => Promise<unknown>)();
    await held;
    await stack.set(device, pause);
    const before = await readState(device);
    goOn();
    expect([null, { job: null, done: true, retry_after: null }]).toContainEqual(await answer);
    const after = await readState(device);
    expect(before.pending.filter((id) => !after.pending.includes(id))).toEqual([]);
    expect(after.leases).toEqual([]);
    expect(await stack.queued(user(device), batch.id)).toMatchObject({ status: 'PENDING' });
    await stack.set(device, { mode: 'OPEN' });
    expect((await stack.claim(device, 'next'))?.batch.id).toBe(batch.id);
  });
});

describe('eight workers, some of whom die, and pauses at random moments', () => {
  it(`start nothing after the answer, and run each job once (seed ${seed})`, async () => {
    const random = randomNumbers(seed);
    const { device } = newNames();
    const batchCount = deep ? 150 : 16;
    const users = Array.from({ length: 6 }, (_, at) => `auth0|${device} ${at}`);
    // Some transactions arrive late.
    const slow = interceptedClient(client, async ({ name, send }) => {
      if (name === 'TransactWriteCommand' && random() < 0.4) await delay(random() * 60);
      return send();
    });
    const workers = workerStack(slow, names, clock);
    for (let at = 0; at < batchCount; at++) {
      await stack.create(users[at % users.length]!, { device_type: device, jobs: 1 + (at % 4) });
    }
    /** How often a worker got each job, and how often one died with it or was lost. */
    const handedOut = new Map<string, number>();
    const deaths = new Map<string, number>();
    const accepted = new Map<string, number>();
    const add = (counts: Map<string, number>, id: string) => counts.set(id, (counts.get(id) ?? 0) + 1);
    /** Whatever the seed, one job loses three workers. */
    let firstJob: string | undefined;
    let endedByPause = 0;
    /** While the device is paused: the leases whose jobs had been started before the answer. */
    let startedBefore: readonly string[] | undefined;

    const work = async (worker: string) => {
      const claim = await workers.claim(device, worker);
      if (claim === undefined) return false;
      const lease = leaseFrom(claim);
      if (startedBefore !== undefined) expect(startedBefore).toContain(`${lease.key} ${lease.fence} ${claim.job.id}`);
      for (let job: { readonly id: string } | null = claim.job; job !== null; ) {
        add(handedOut, job.id);
        await workers.heartbeat(lease, job.id);
        await delay(random() * 10);
        firstJob ??= job.id;
        if (random() < 0.08 || (job.id === firstJob && (deaths.get(job.id) ?? 0) < 3)) {
          add(deaths, job.id);
          return true;
        }
        const next = await workers.report(lease, job.id);
        add(accepted, job.id);
        const { status } = (await stack.batch(lease.userId, claim.batch.id))!;
        if (next.done && status === 'PENDING') endedByPause += 1;
        job = next.job;
      }
      return true;
    };
    const operate = async () => {
      await delay(random() * 150);
      await workers.set(device, pause);
      const before = await readState(device);
      startedBefore = before.leases;
      await delay(20 + random() * 120);
      const after = await readState(device);
      expect(before.pending.filter((id) => !after.pending.includes(id))).toEqual([]);
      startedBefore = undefined;
      await workers.set(device, { mode: 'OPEN' });
    };

    for (let rounds = 0; ; rounds++) {
      // On a busy machine many rounds end before a worker has got a job.
      expect(rounds, 'rounds').toBeLessThan(100 * batchCount);
      const isBusy = await Promise.all([
        ...Array.from({ length: 8 }, (_, at) => work(`worker ${at}`)),
        operate().then(() => false),
      ]);
      if (!isBusy.includes(true)) {
        if ((await readState(device)).leases.length === 0 && (await stack.claim(device, 'last')) === undefined) break;
        // The leases of the dead run out.
        clock.now += 61_000;
      }
    }
    const jobs = (await Promise.all(users.map((user) => itemsOfOwner(client, names.Jobs, user)))).flat();
    const batches = (await Promise.all(users.map((user) => itemsOfOwner(client, names.Batches, user)))).flat();
    expect(batches.map(({ status }) => status)).toEqual(Array.from({ length: batchCount }, () => 'DONE'));
    for (const { id, status } of jobs as { id: string; status: string }[]) {
      const died = deaths.get(id) ?? 0;
      expect([status, accepted.get(id) ?? 0], id).toEqual(died >= 3 ? ['ERROR', 0] : ['DONE', 1]);
      expect(handedOut.get(id), id).toBe(Math.min(3, died) + (died >= 3 ? 0 : 1));
    }
    expect(jobs.find(({ id }) => id === firstJob)).toMatchObject({ status: 'ERROR' });
    expect(endedByPause).toBeGreaterThan(0);
  });
});
