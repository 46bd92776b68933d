/**
 * Workers that die at any moment, and come back late: nothing is lost, nothing is run twice to its
 * end, nothing is overwritten.
 */

import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { LeaseLost } from '../../functions/errors.ts';
import type { Claim } from '../../functions/schemas/lease.ts';
import { randomNumbers } from '../../infra/local/demo/seeded-random.ts';
import { deep } from '../support/depth.ts';
import { itemsOfOwner } from '../support/items-of-owner.ts';
import { ownTables } from '../support/own-tables.ts';
import { recountOf } from '../support/owner-rows.ts';
import { seed } from '../support/seed.ts';
import { leaseFrom, workerStack } from '../support/worker-stack.ts';

const { client, tables: names } = await ownTables();

const batchCount = deep ? 400 : 24;
const workerCount = deep ? 16 : 8;
const userCount = deep ? 20 : 6;

describe(`${workerCount} workers, a third of whose claims die`, () => {
  it(`finish ${batchCount} batches, each job once, and every late report is refused`, async () => {
    const random = randomNumbers(seed);
    const clock = { now: Date.parse('2026-11-21T12:00:00Z') };
    const stack = workerStack(client, names, clock);
    const users = Array.from({ length: userCount }, (_, at) => `auth0|user ${at}`);
    await Promise.all(
      users.map(async (user) => {
        for (let at = 0; at < batchCount / userCount; at++) await stack.create(user, { jobs: at % 4 === 0 ? 2 : 1 });
      }),
    );

    /** How often the end of each job was accepted. */
    const accepted = new Map<string, number>();
    const lost: Claim[] = [];
    const late: { readonly claim: Claim; readonly error: unknown }[] = [];
    const fences = new Set<string>();
    /** How many workers died with each job, after their first heartbeat and before. */
    const deaths = new Map<string, { readonly seen: number; readonly unseen: number }>();
    let [firstJob, secondJob]: (string | undefined)[] = [];

    const work = async (worker: string) => {
      const claim = await stack.claim('FRESNEL', worker);
      if (claim === undefined) return false;
      const lease = leaseFrom(claim);
      const fence = `${lease.key} ${lease.fence}`;
      expect(fences.has(fence), 'two workers with one lease').toBe(false);
      fences.add(fence);
      firstJob ??= claim.job.id;
      if (claim.job.id !== firstJob) secondJob ??= claim.job.id;
      // Whatever the seed, one job loses three workers before their first heartbeat, another one
      // three after it.
      const { seen: lostLate, unseen: lostEarly } = deaths.get(claim.job.id) ?? { seen: 0, unseen: 0 };
      const isDue = {
        early: claim.job.id === firstJob && lostEarly < 3,
        late: claim.job.id === secondJob && lostLate < 3,
      };
      const fate = isDue.early ? 0 : isDue.late ? 1 / 4 : random();
      // Half of the dying workers die before their first heartbeat, or never got the answer.
      const isSeen = fate >= 1 / 6;
      if (isSeen) await stack.heartbeat(lease, claim.job.id);
      if (fate < 1 / 3) {
        lost.push(claim);
        const { seen = 0, unseen = 0 } = deaths.get(claim.job.id) ?? {};
        deaths.set(claim.job.id, isSeen ? { seen: seen + 1, unseen } : { seen, unseen: unseen + 1 });
        return true;
      }
      for (let job: { readonly id: string } | null = claim.job; job !== null; ) {
        const next = await stack.report(lease, job.id);
        accepted.set(job.id, (accepted.get(job.id) ?? 0) + 1);
        job = next.job;
      }
      return true;
    };
    const reportLate = async (claim: Claim) => {
      try {
        await stack.report(leaseFrom(claim), claim.job.id);
        late.push({ claim, error: undefined });
      } catch (error) {
        late.push({ claim, error });
      }
    };

    for (let rounds = 0; ; rounds++) {
      expect(rounds, 'rounds').toBeLessThan(200);
      const isBusy = await Promise.all(Array.from({ length: workerCount }, (_, at) => work(`worker ${at}`)));
      const held = await itemsInQueue();
      if (!isBusy.includes(true) && held.length === 0) break;
      // The leases of the dead run out, and are taken over; then some of the dead come back.
      if (!isBusy.includes(true)) clock.now += 61_000;
      const taken = lost.filter((claim) => isTakenOver(claim, held));
      for (const claim of taken) await reportLate(claim);
      lost.splice(0, lost.length, ...lost.filter((claim) => !taken.includes(claim)));
    }
    for (const claim of lost.splice(0)) await reportLate(claim);

    for (const user of users) expect(await recountOf(client, names, user)).toEqual([]);
    const batches = (await Promise.all(users.map((user) => itemsOfOwner(client, names.Batches, user)))).flat();
    const jobs = (await Promise.all(users.map((user) => itemsOfOwner(client, names.Jobs, user)))).flat();
    expect(batches.map(({ status }) => status)).toEqual(Array.from({ length: batchCount }, () => 'DONE'));
    const errors = jobs.filter(({ status }) => status === 'ERROR');
    for (const { errors: texts } of errors) {
      expect(texts).toEqual(['The device was lost 3 times while it ran this job.']);
    }
    const done = jobs.filter(({ status }) => status === 'DONE');
    expect(done.length + errors.length).toBe(jobs.length);
    expect(done.map(({ id }) => accepted.get(String(id)))).toEqual(done.map(() => 1));
    expect(accepted.size).toBe(done.length);
    const dead = [...deaths.values()].reduce((sum, { seen, unseen }) => sum + seen + unseen, 0);
    expect(late).toHaveLength(dead);
    expect(late.filter(({ error }) => !(error instanceof LeaseLost))).toEqual([]);
    // Those whose worker was lost three times after it was heard of, and no others.
    const lostForGood = jobs.filter(({ id }) => deaths.get(String(id))?.seen === 3);
    expect(lostForGood.length).toBeGreaterThan(0);
    expect(errors.map(({ id }) => id).sort()).toEqual(lostForGood.map(({ id }) => id).sort());
    expect([...deaths.values()].some(({ seen, unseen }) => seen < 3 && seen + unseen >= 3)).toBe(true);
  });
});

async function itemsInQueue() {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: names.DeviceQueue, ConsistentRead: true }));
  return Items.filter(({ fence }) => fence !== undefined);
}

/** Whether the batch has left the queue, or another worker has it. */
function isTakenOver(claim: Claim, items: readonly Record<string, unknown>[]): boolean {
  const { key, fence } = leaseFrom(claim);
  const item = items.find((each) => each.key === key);
  return item === undefined || item.fence !== fence;
}
