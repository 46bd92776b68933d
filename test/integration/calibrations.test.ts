/**
 * Jobs carry the calibration that was in force when they were handed out. What that is, a judge
 * says that knows the definition alone, and all reports.
 */

import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { getRulesItem } from '../../functions/data/queue/queue.ts';
import { getCalibration, listCalibrations, reportCalibration } from '../../functions/data/rows/calibrations.ts';
import { announceDevice, removeDevice } from '../../functions/data/rows/devices.ts';
import type { LeaseReference } from '../../functions/schemas/lease.ts';
import { fromMicroseconds } from '../../functions/values/timestamp.ts';
import { randomNumbers } from '../../infra/local/demo/seeded-random.ts';
import { deep } from '../support/depth.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { measuredClient } from '../support/measured-client.ts';
import { ownTables } from '../support/own-tables.ts';
import { seed } from '../support/seed.ts';
import { testClient } from '../support/test-client.ts';
import { leaseFrom, newNames, workerStack } from '../support/worker-stack.ts';

const { client, tables: names } = await ownTables();
const start = Date.parse('2026-11-21T12:00:00Z');
const numbers = { p_false_pos: 0.01 };

function newStack() {
  const clock = { now: start };
  const stack = workerStack(client, names, clock);
  /** `validIn`: milliseconds from now; by default as the service chooses. */
  const calibrate = (device: string, validIn?: number) => {
    const valid =
      validIn === undefined ? {} : { valid_from: fromMicroseconds(Math.round((clock.now + validIn) * 1_000)) };
    // No two are alike: a report that repeats the last one makes no other.
    return reportCalibration(stack.db, device, { numbers: { ...numbers, random: Math.random() }, ...valid });
  };
  const stampOf = async (user: string, job: string) => (await stack.job(user, job))?.calibration;
  return { ...stack, clock, calibrate, stampOf };
}

interface Reported {
  readonly number: number;
  /** Both in milliseconds since 1970. */
  readonly valid: number;
  readonly created: number;
}

function judge(reports: readonly Reported[], time: number): number | null {
  const held = reports.filter(({ valid, created }) => created <= time && valid <= time);
  const latest = Math.max(...held.map(({ valid }) => valid));
  return held.length === 0
    ? null
    : Math.max(...held.filter(({ valid }) => valid === latest).map((each) => each.number));
}

interface AtWork {
  readonly lease: LeaseReference;
  readonly user: string;
  job: string;
}

describe('a job', () => {
  const jobCount = deep ? 1_000 : 60;

  it(`carries what was in force when it was handed out last: ${jobCount} jobs, with workers that die`, async () => {
    const random = randomNumbers(seed);
    const pick = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)]!;
    const stack = newStack();
    const { clock } = stack;
    const devices = Array.from({ length: 3 }, () => newNames().device);
    const reports = new Map(devices.map((device) => [device, [] as Reported[]]));
    const users = new Map<string, string>();
    const jobs = new Map<string, { readonly user: string; stamp: number | null }>();
    for (let at = 0; jobs.size < jobCount; at++) {
      const { user } = newNames();
      const batch = await stack.create(user, { device_type: devices[at % 3]!, jobs: 1 + Math.floor(random() * 4) });
      users.set(batch.id, user);
      for (const { id } of batch.jobs ?? []) jobs.set(id, { user, stamp: null });
    }
    const working: AtWork[] = [];
    const lost: AtWork[] = [];
    const seen = { reports: 0, handedOut: 0, anew: 0, released: 0 };

    const expectStamp = async (device: string, id: string, others: readonly (number | null)[] = []) => {
      const job = jobs.get(id)!;
      const stamp = await stack.stampOf(job.user, id);
      expect([judge(reports.get(device)!, clock.now), ...others], `${id} of ${device}`).toContain(stamp);
      if (job.stamp !== null) seen.anew += 1;
      job.stamp = stamp ?? null;
      seen.handedOut += 1;
    };
    const report = async (device: string) => {
      // Often at the very time of another.
      const kept = reports.get(device)!;
      const sameTime = (pick(kept)?.valid ?? clock.now) - clock.now;
      const chosen = pick([undefined, undefined, 0, 45_000, 200_000, -30_000, -1e7, sameTime]);
      const isFull = kept.filter(({ valid }) => valid > clock.now).length > 8;
      const validIn = isFull ? undefined : chosen;
      const { number } = await stack.calibrate(device, validIn);
      expect(number).toBe(kept.length + 1);
      kept.push({ number, valid: clock.now + (validIn ?? 0), created: clock.now });
      seen.reports += 1;
    };
    const takeUp = (claim: NonNullable<Awaited<ReturnType<typeof stack.claim>>>) =>
      working.push({ lease: leaseFrom(claim), user: users.get(claim.batch.id)!, job: claim.job.id });
    const steps = {
      report: () => report(pick(devices)),
      async claim() {
        const device = pick(devices);
        const claim = await stack.claim(device, 'worker');
        if (claim === undefined) return;
        takeUp(claim);
        await expectStamp(device, claim.job.id);
      },
      async claimBesideAReport() {
        const device = pick(devices);
        const before = judge(reports.get(device)!, clock.now);
        const [claim] = await Promise.all([stack.claim(device, 'worker'), report(device)]);
        if (claim === undefined) return;
        takeUp(claim);
        await expectStamp(device, claim.job.id, [before]);
      },
      async end() {
        const [held] = working.splice(Math.floor(random() * working.length), 1);
        if (held === undefined) return;
        await stack.heartbeat(held.lease, held.job);
        const { job } = await stack.report(held.lease, held.job);
        if (job === null) return;
        working.push({ ...held, job: job.id });
        await expectStamp(held.lease.deviceType, job.id);
      },
      async die() {
        const [held] = working.splice(0, 1);
        if (held === undefined) return;
        lost.push(held);
      },
      async release() {
        const [held] = working.splice(0, 1);
        if (held === undefined) return;
        await stack.release(held.lease);
        expect(await stack.stampOf(held.user, held.job)).toBeNull();
        jobs.get(held.job)!.stamp = null;
        seen.released += 1;
      },
      async set() {
        await stack.set(pick(devices), { max_job_seconds: 600 + Math.floor(random() * 1e5) });
      },
    };
    const often = [
      'claim',
      'claim',
      'end',
      'end',
      'end',
      'report',
      'claimBesideAReport',
      'die',
      'release',
      'set',
    ] as const;
    for (let at = 0; at < jobCount * 3; at++) {
      clock.now += Math.floor(random() * 5_000);
      for (const { lease, job } of at % 6 === 0 ? working : []) await stack.heartbeat(lease, job);
      await steps[pick(often)]();
    }
    // The jobs that are left are handed out to the end; leases of the dead run out.
    for (let rounds = 0; rounds < jobCount * 2; rounds++) {
      while (working.length > 0) await steps.end();
      clock.now += 61_000;
      let isAny = false;
      for (const device of devices) {
        const claim = await stack.claim(device, 'worker');
        if (claim === undefined) continue;
        isAny = true;
        takeUp(claim);
        await expectStamp(device, claim.job.id);
        if (random() < 0.5) await report(device);
      }
      if (!isAny) break;
    }
    for (const [id, { user, stamp }] of jobs) {
      const job = await stack.job(user, id);
      expect([id, job?.calibration, job?.end_timestamp === null]).toEqual([id, stamp, false]);
    }
    expect(lost.length * seen.released).toBeGreaterThan(0);
    expect(seen.anew).toBeGreaterThan(0);
    expect(seen.reports).toBeGreaterThan(jobCount / 10);
    for (const device of devices) {
      const { total } = await listCalibrations(stack.db, device, { limit: 1, offset: 0 });
      expect(total).toBe(reports.get(device)!.length);
    }
  });

  it('gets the new number when it is handed out anew, and keeps its start', async () => {
    const { clock, ...stack } = newStack();
    const { device, user } = newNames();
    await stack.create(user, { device_type: device });
    await stack.calibrate(device);
    const first = await stack.claimed(device);
    expect(await stack.stampOf(user, first.job.id)).toBe(1);
    const before = await stack.job(user, first.job.id);
    await stack.calibrate(device);
    clock.now += 61_000;
    const again = await stack.claimed(device);
    expect(again.job.id).toBe(first.job.id);
    expect(await stack.job(user, first.job.id)).toEqual({
      ...before,
      calibration: 2,
      updated_at: fromMicroseconds(clock.now * 1_000),
    });
    const { job } = await stack.next(leaseFrom(again));
    await stack.calibrate(device);
    expect((await stack.next(leaseFrom(again))).job).toEqual(job);
    await stack.report(leaseFrom(again), first.job.id);
    expect(await stack.stampOf(user, first.job.id)).toBe(2);
  });

  it('has none, in no attribute, where there was none or it runs outside the queue', async () => {
    const stack = newStack();
    const { user, claim, lease } = await stack.held();
    expect(await stack.stampOf(user, claim.job.id)).toBeNull();
    expect(await stack.jobRow(lease, claim.job.id)).not.toHaveProperty('calibration');
  });
});

describe('a hand-out', () => {
  it('takes the same calls and units with calibrations as without', async () => {
    const own = testClient(dynamodbEndpoint);
    const measure = measuredClient(own);
    const costs = [];
    for (const isCalibrated of [false, true]) {
      const clock = { now: start };
      const stack = workerStack(own, names, clock);
      const { device, user } = newNames();
      await stack.set(device, { max_job_seconds: 600 });
      for (let at = 0; isCalibrated && at < 5; at++) await reportCalibration(stack.db, device, { numbers });
      await stack.create(user, { device_type: device, jobs: 3 });
      const claimed = await measure(() => stack.claimed(device));
      const lease = leaseFrom(claimed.value);
      const reported = await measure(() => stack.report(lease, claimed.value.job.id));
      const job = await stack.job(user, String(reported.value.job?.id));
      expect(job?.calibration).toBe(isCalibrated ? 5 : null);
      costs.push(
        [claimed, reported].map(({ cost: { calls, depth, readUnits, writeUnits } }) => [
          calls,
          depth,
          readUnits,
          writeUnits,
        ]),
      );
    }
    expect(costs[1]).toEqual(costs[0]);
  });
});

describe('the numbers of calibrations', () => {
  it('are dense, in whatever order reports come at once', async () => {
    const stack = newStack();
    const { device } = newNames();
    const all = await Promise.all(Array.from({ length: 8 }, (_, at) => stack.calibrate(device, at * 1_000)));
    expect(all.map(({ number }) => number).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const { items, total } = await listCalibrations(stack.db, device, { limit: 3, offset: 2 });
    expect([total, items.map(({ number }) => number)]).toEqual([8, [6, 5, 4]]);
    for (const [offset, left] of [
      [7, [1]],
      [8, []],
      [1e9, []],
    ] as const) {
      const page = await listCalibrations(stack.db, device, { limit: 3, offset });
      expect([page.total, page.items.map(({ number }) => number)]).toEqual([8, left]);
    }
    stack.clock.now += 10_000;
    const known = (await getRulesItem(stack.db, device))?.calibrations as [number, number, number][];
    const inForce = all.find(({ valid_from }) => valid_from === fromMicroseconds((start + 7_000) * 1_000))!;
    expect(known.map(([number]) => number)).toContain(inForce.number);
    expect((await stack.show({ device_type: device, status: 'UP' })).calibration).toBe(inForce.number);
  });

  it('go on after the device was removed; what operators set stays beside them', async () => {
    const stack = newStack();
    const { device } = newNames();
    await stack.calibrate(device);
    const [rules] = await Promise.all([
      stack.set(device, { max_job_seconds: 600 }),
      stack.calibrate(device),
      stack.calibrate(device, 60_000),
    ]);
    expect(await stack.rules(device)).toEqual(rules);
    await announceDevice(stack.db, device, { status: 'UP' });
    await removeDevice(stack.db, device);
    expect((await stack.calibrate(device)).number).toBe(4);
    await stack.set(device, { max_job_seconds: null });
    expect((await stack.show({ device_type: device, status: 'UP' })).calibration).toBe(4);
    stack.clock.now += 60_000;
    const { items } = await listCalibrations(stack.db, device, { limit: 100, offset: 0 });
    const toCome = items.find(({ valid_from, created_at }) => valid_from > created_at);
    expect((await stack.show({ device_type: device, status: 'UP' })).calibration).toBe(toCome?.number);
  });

  it('are given once to a report that is sent again with its time, and answer with what was stored', async () => {
    const stack = newStack();
    const { device } = newNames();
    const request = { numbers, valid_from: fromMicroseconds(start * 1_000), document: { a: [1, null] } };
    const first = await reportCalibration(stack.db, device, request);
    stack.clock.now += 5_000;
    expect(await reportCalibration(stack.db, device, request)).toEqual(first);
    expect(await getCalibration(stack.db, { device_type: device, number: 'latest' })).toEqual(first);
    expect(await reportCalibration(stack.db, device, { ...request, document: { a: [2, null] } })).toMatchObject({
      number: 2,
    });
    expect((await stack.calibrate(device)).number).toBe(3);
    expect((await stack.calibrate(device)).number).toBe(4);
    expect(await getCalibration(stack.db, { device_type: device, number: 1 })).toEqual(first);
  });

  it('answer 500 where the stored list is corrupt, never a wrong number', async () => {
    const stack = newStack();
    const { device, user } = newNames();
    await stack.create(user, { device_type: device });
    const Key = { device_type: device, key: '!device' };
    const values = { ':list': [['one']] };
    const UpdateExpression = 'SET calibrations = :list';
    await client.send(
      new UpdateCommand({ TableName: names.DeviceQueue, Key, UpdateExpression, ExpressionAttributeValues: values }),
    );
    await expect(stack.claimed(device)).rejects.toThrow('corrupt');
  });
});
