/** When batches start, beside what was estimated while they waited. */

import { readFile } from 'node:fs/promises';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { estimateNewBatch } from '../../functions/data/batches/new-batch-estimate.ts';
import { getQueuedBatch } from '../../functions/data/batches/queue-counts.ts';
import { deviceTimes, deviceTimesKey } from '../../functions/data/queue/job-times.ts';
import { fromMilliseconds } from '../../functions/values/timestamp.ts';
import { randomNumbers } from '../../infra/local/demo/seeded-random.ts';
import { deep } from '../support/depth.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { measuredClient } from '../support/measured-client.ts';
import { ownTables } from '../support/own-tables.ts';
import {
  type Judged,
  judge,
  type ReplayedQueue,
  randomTrace,
  replay,
  type Trace,
  traceOfLog,
} from '../support/replay.ts';
import { seed } from '../support/seed.ts';
import { testClient } from '../support/test-client.ts';
import { itemsOfQueue } from '../support/user-clocks.ts';
import { leaseFrom, newNames, workerStack } from '../support/worker-stack.ts';

const { client, tables } = await ownTables();

/** The queue of a device of its own, at the clock's time. */
async function realQueue(trace: Trace, clock: { now: number }): Promise<ReplayedQueue> {
  const { device } = newNames();
  const stack = workerStack(client, tables, clock);
  const users = new Map<string, string>();
  const held = new Map<number, { id: string; job: string; lease: ReturnType<typeof leaseFrom>; heard: number }>();
  const reports = new Map<string, number>();
  const leaseOf = (worker: number) => held.get(worker) as NonNullable<ReturnType<typeof held.get>>;
  await stack.announce(device, {});
  const [begin, time] = [clock.now, (seconds: number) => fromMilliseconds(Math.round(begin + seconds * 1_000))];
  const windows = trace.windows.map(([start, end]) => ({
    starts_at: time(start),
    ends_at: time(end),
    reason: 'Works',
  }));
  await stack.set(device, { windows });
  return {
    async create(at) {
      const { user, jobs } = trace.batches[at]!;
      const { id } = await stack.create(user, { device_type: device, jobs: jobs.length });
      users.set(id, user);
      return id;
    },
    async claim(worker) {
      const claim = await stack.claim(device, `worker ${worker}`);
      if (claim === undefined) return undefined;
      held.set(worker, { id: claim.batch.id, job: claim.job.id, lease: leaseFrom(claim), heard: clock.now });
      return { id: claim.batch.id, done: reports.get(claim.batch.id) ?? 0 };
    },
    async report(worker) {
      const { id, job, lease } = leaseOf(worker);
      const next = await stack.report(lease, job);
      reports.set(id, (reports.get(id) ?? 0) + 1);
      if (next.job === null) held.delete(worker);
      else held.set(worker, { id, job: next.job.id, lease, heard: clock.now });
      return next.job !== null;
    },
    async heartbeats(workers) {
      for (const each of workers.map(leaseOf).filter(({ heard }) => clock.now - heard > 40_000)) {
        await stack.heartbeat(each.lease, each.job);
        each.heard = clock.now;
      }
    },
    estimate: async (id) => (await getQueuedBatch(stack.db, users.get(id)!, id))!,
  };
}

/**
 * Outside of deep runs the seeds are fixed: one trace in twenty is so unlike what came before that
 * fewer than four starts of five are within their ranges.
 */
const traces = deep
  ? { seeds: Array.from({ length: 12 }, (_, at) => seed + at), batches: 120, estimates: 240 }
  : { seeds: [16], batches: 22, estimates: 80 };

describe(`estimated_start, in replays of traces with heavy tails (seeds ${traces.seeds.join()})`, () => {
  it('holds four starts of five, and is nearer than the position times the mean', async () => {
    const judged: Judged[] = [];
    for (const each of traces.seeds) judged.push(...(await judgedStarts(randomTrace(each, traces.batches), each)));
    const { covered, error, simpleError, estimates } = judge(judged);
    expect(estimates).toBeGreaterThan(traces.batches);
    expect(covered).toBeGreaterThanOrEqual(0.8);
    expect(error).toBeLessThan(simpleError);
  });
});

async function judgedStarts(trace: Trace, ofSeed: number): Promise<Judged[]> {
  // Which reports are kept follows from the seed, too.
  const random = vi.spyOn(Math, 'random').mockImplementation(randomNumbers(ofSeed));
  onTestFinished(() => random.mockRestore());
  const clock = { now: Date.parse('2026-11-22T12:00:00Z') };
  return replay(trace, await realQueue(trace, clock), { clock, seed: ofSeed, estimates: traces.estimates });
}

describe('a log in the Standard Workload Format', () => {
  it('is read', () => {
    const log = `; MaxProcs: 2
    1 100 5 40 1 -1 -1 1 60 -1 1 7 1 -1 1 -1 -1 -1
    3 160 0 50 1 -1 -1 1 60 -1 1 8 1 -1 1 -1 -1 -1
    2 130 0 -1 1 -1 -1 1 60 -1 0 7 1 -1 1 -1 -1 -1
`;
    const batches = [
      { at: 0, user: 'auth0|7', jobs: [40] },
      { at: 60, user: 'auth0|8', jobs: [50] },
    ];
    expect(traceOfLog(log, 9)).toEqual({ batches, workers: 2, windows: [] });
  });

  /** `SWF=FILE` replays the first 500 jobs of a log from the Parallel Workloads Archive. */
  it.runIf(process.env.SWF)('starts four jobs of five within their ranges', async () => {
    const trace = traceOfLog(await readFile(process.env.SWF as string, 'utf8'), 500);
    const verdict = judge(await judgedStarts(trace, 1));
    console.log(trace.workers, verdict);
    expect(verdict.covered).toBeGreaterThanOrEqual(0.8);
  });
});

describe('what is known of a device', () => {
  const clock = { now: Date.parse('2026-11-22T12:00:00Z') };
  const stack = workerStack(client, tables, clock);
  // A client of its own: one that measures sends the items of a transaction one by one.
  const measuring = testClient(dynamodbEndpoint);
  const measure = measuredClient(measuring);
  const measured = workerStack(measuring, tables, clock);
  const itemsOf = (device: string) => itemsOfQueue(client, tables, device);
  const batchItems = async (device: string) => (await itemsOf(device)).filter(({ key }) => key >= '0');
  const timesOf = async (device: string) =>
    deviceTimes((await itemsOf(device)).find(({ key }) => key === deviceTimesKey));
  const secondsTo = ({ estimated_start }: Awaited<ReturnType<ReplayedQueue['estimate']>>) =>
    estimated_start && (Date.parse(estimated_start.likely) - clock.now) / 1_000;

  it('comes with reports, and goes on with what each batch has left', async () => {
    const { device, user } = newNames();
    await stack.announce(device, {});
    const first = await stack.create(user, { device_type: device, jobs: 3 });
    const second = await stack.create('auth0|other', { device_type: device, open: true });
    await stack.add('auth0|other', second.id, 2);
    const left = async () => (await batchItems(device)).map(({ jobs_left, job_shots }) => [jobs_left, job_shots]);
    // The runs of 1, 2 and 3; the added jobs have none.
    expect(new Set(await left())).toEqual(
      new Set([
        [3, 2],
        [3, undefined],
      ]),
    );
    expect(await stack.queued(user, first.id)).toMatchObject({ estimated_start_reason: 'no_worker' });
    const claim = (await stack.claim(device, 'worker'))!;
    const [held, waits] = claim.batch.id === first.id ? [first, second] : [second, first];
    const owner = (batch: typeof first) => (batch === first ? user : 'auth0|other');
    expect(await stack.queued(owner(held), held.id)).toMatchObject({ estimated_start_reason: 'running' });
    expect(await stack.queued(owner(waits), waits.id)).toMatchObject({ estimated_start_reason: 'unknown' });
    clock.now += 40_000;
    await stack.report(leaseFrom(claim), claim.job.id);
    // A repeated report is not counted again.
    await stack.report(leaseFrom(claim), claim.job.id);
    const { jobs, seen } = await timesOf(device);
    expect(jobs).toHaveLength(1);
    expect(jobs[0]!.seconds).toBeCloseTo(40, -1);
    expect([...seen.values()]).toEqual([clock.now]);
    expect((await left()).map(([jobsLeft]) => jobsLeft).sort()).toEqual([2, 3]);
    expect(secondsTo((await stack.queued(owner(waits), waits.id))!)).toBeGreaterThan(30);
    await stack.release(leaseFrom(claim));
    expect((await left()).map(([jobsLeft]) => jobsLeft).sort()).toEqual([2, 3]);
    await stack.cancel(owner(held), held.id);
    expect(await stack.queued(owner(held), held.id)).toMatchObject({ estimated_start_reason: 'ended' });
    await stack.set(device, { mode: 'PAUSED', reason: 'Works' });
    expect(await stack.queued(owner(waits), waits.id)).toMatchObject({ estimated_start_reason: 'paused' });
  });

  it('comes with claims that find nothing, too: an idle worker is noted every 30 s', async () => {
    const { device, user } = newNames();
    await stack.announce(device, {});
    const writes: number[] = [];
    for (let asked = 0; asked < 8; asked++) {
      const { cost } = await measure(() => measured.claim(device, 'worker'));
      writes.push(cost.writeUnits);
      clock.now += 10_000;
    }
    // One with the times of the device, one under its own name.
    expect(writes).toEqual([2, 0, 0, 2, 0, 0, 2, 0]);
    const batch = await stack.create(user, { device_type: device });
    const { estimated_start } = (await stack.queued(user, batch.id))!;
    expect(Date.parse(estimated_start!.latest) - clock.now).toBeLessThan(20_000);
  });

  it('costs a report one write unit, a claim nothing, and a status no call more', async () => {
    const { device, user } = newNames();
    await stack.announce(device, {});
    for (let each = 0; each < 2; each++) await stack.create(user, { device_type: device });
    const claim = (await stack.claim(device, 'worker'))!;
    const { calls } = await measure(() => measured.report(leaseFrom(claim), claim.job.id));
    expect(calls.filter(({ name }) => name === 'UpdateItem')).toMatchObject([{ writeUnits: 1 }]);
    const read: unknown[] = [];
    const watched = interceptedClient(client, async ({ name, send }) => {
      const answer = await send();
      if (name === 'QueryCommand') read.push(...((answer.Items ?? []) as { key?: string }[]).map(({ key }) => key));
      return answer;
    });
    await workerStack(watched, tables, clock).claim(device, 'worker');
    expect(read).toContain('!clock');
    expect(read).not.toContain(deviceTimesKey);
    const { id } = await stack.create(user, { device_type: device });
    const status = await measure(() => measured.queued(user, id));
    expect(status.value?.estimated_start).not.toBeNull();
    expect(status.calls.map(({ name, readUnits }) => [name, readUnits])).toEqual([
      ['GetItem', 1],
      ['Query', 0.5],
    ]);
  });

  it('may fail to be written: the report does not', async () => {
    const { device, user } = newNames();
    await stack.create(user, { device_type: device, jobs: 2 });
    const failing = interceptedClient(client, async ({ name, input, send }) => {
      if (name === UpdateCommand.name && (input.Key as { key: string }).key === deviceTimesKey)
        throw new Error('fails');
      return send();
    });
    const claim = (await stack.claim(device, 'worker'))!;
    const next = await workerStack(failing, tables, clock).report(leaseFrom(claim), claim.job.id);
    expect(next.job).not.toBeNull();
    expect((await timesOf(device)).jobs).toEqual([]);
  });

  it('estimates a batch that is not created, at the place that it would get', async () => {
    const { device, user } = newNames();
    const claim = (await stack.create(user, { device_type: device })) && (await stack.claim(device, 'worker'))!;
    clock.now += 50_000;
    await stack.report(leaseFrom(claim), claim.job.id);
    for (let each = 0; each < 12; each++) await stack.create(user, { device_type: device });
    await stack.claim(device, 'worker');
    const planned = { device_type: device, queue_priority: 'MEDIUM', jobs: 1 } as const;
    const likely = async (user_id: string) =>
      (Date.parse((await estimateNewBatch(stack.db, { ...planned, user_id })).estimated_start!.likely) - clock.now) /
      1_000;
    const [own, other] = [await likely(user), await likely('auth0|another')];
    // Behind 12 batches of the user's own, or behind the one at work.
    expect(own).toBeGreaterThan(300);
    expect(other).toBeLessThan(own / 4);
    expect(await batchItems(device)).toHaveLength(12);
  });
});
