/**
 * When a batch that waits is likely to start: the queue is played forward a number of times, with
 * job times drawn from the device's last reports. What varies between the plays is the answer's
 * range.
 */

import { noEstimate, type StartEstimate } from '../../schemas/estimate.ts';
import { fromMilliseconds, toMicroseconds } from '../../values/timestamp.ts';
import { pauseAt, whyNoStart } from './device-rules.ts';
import { tagOfKey, tagSteps } from './fair-order.ts';
import { type JobTime, workerSlot } from './job-times.ts';
import { maxCountedBatches, type QueueFront } from './queue.ts';
import { type FrontItem, maxIdleMilliseconds } from './queue-item.ts';

/** A window in which the device starts nothing, in seconds from the front's time on. */
type Window = readonly [start: number, end: number];

/** How often the queue is played: fewer the more batches are before it. 1,000 take some 10 ms. */
const maxDraws = 40_000;
const maxPlays = 200;
const minPlays = 60;

/** The share of the plays that start before `earliest`, and after `latest`. */
const tail = 0.03;

/** An idle worker asks again after so long at first (see claim-batch.ts), and at most. */
const claimSeconds = 3;
const maxIdleSeconds = 20;

/** A worker that was not heard of for this time does not count. */
const presentMilliseconds = 60_000;

/** The least spread of the proportion between future and past job times. */
const drift = 0.2;

/**
 * When the batch with this key starts, or why that is unknown. The batch may not be in the queue
 * yet. Times are canonical, in their order, none before `now`. The same front and key get the same
 * answer.
 *
 * The estimate counts the jobs of the batches before it, the workers, windows, and later batches of
 * other users that may go first. It leaves out jobs that are added later, and the time for which
 * open batches keep a worker waiting for them.
 */
export function estimateStart(
  front: QueueFront,
  batch: Pick<FrontItem, 'key' | 'user_id'>,
  now: number,
): StartEstimate {
  const { at, rules, batches, times } = front;
  const { key } = batch;
  const why = whyNoStart(rules);
  if (why !== undefined) return noEstimate(why);
  const held = batches.filter(({ lease_until }) => lease_until > at);
  const before = batches.filter((each) => each.key < key && each.lease_until <= at);
  const workers = countWorkers(front, held);
  if (workers === 0) return noEstimate('no_worker');
  const isHidden = batches.length > maxCountedBatches && !batches.some((each) => each.key >= key);
  if (isHidden || (times.jobs.length === 0 && (held.length >= workers || before.length > 0))) {
    return noEstimate('unknown');
  }
  const queue = {
    at,
    held,
    before,
    workers,
    windows: windowsOf(front),
    arrivals: arrivalsBefore(front, batch, before),
    sample: sampleOf(times.jobs),
  };
  const plays = Math.max(minPlays, Math.min(maxPlays, Math.floor(maxDraws / (before.length + held.length + 1))));
  const random = randomNumbers();
  const starts = Array.from({ length: plays }, () => play(queue, random)).sort((a, b) => a - b);
  const quantile = (share: number) => {
    const seconds = starts[Math.floor(share * (plays - 1))] as number;
    return fromMilliseconds(Math.max(now, Math.round(at + Math.min(seconds, maxSeconds) * 1_000)));
  };
  const estimated_start = { earliest: quantile(tail), likely: quantile(0.5), latest: quantile(1 - tail) };
  return { estimated_start, estimated_start_reason: null };
}

/** Ten years: later times would be no times. */
const maxSeconds = 10 * 365 * 24 * 3600;

/**
 * The number of workers: workers with a lease, and idle workers that were heard of in the last
 * minute. Idle workers do not count if a batch is left that they would have taken by now. In a
 * window all workers pause: before its end, the workers count that were seen when it began, at
 * least one.
 */
function countWorkers({ at, rules, times, batches }: QueueFront, held: readonly FrontItem[]): number {
  let since = at - presentMilliseconds;
  for (const { starts_at, ends_at } of rules.windows.toReversed()) {
    const [start, end] = [toMicroseconds(starts_at) / 1_000, toMicroseconds(ends_at) / 1_000];
    if (start <= at && end > since) since = Math.min(since, start - presentMilliseconds);
  }
  const busy = new Set(held.map(({ worker }) => workerSlot(worker)));
  const idle = [...times.seen].filter(([slot, time]) => time >= since && !busy.has(slot)).length;
  if (pauseAt(rules, at) !== undefined) return Math.max(1, held.length + idle);
  const isLeft = batches.some(({ lease_until, entered_at = 0 }) => {
    return lease_until <= at && entered_at < at - 2 * claimSeconds * 1_000;
  });
  if (!isLeft) return held.length + idle;
  return held.length || Math.min(1, idle);
}

function windowsOf({ at, rules }: QueueFront): Window[] {
  const secondsTo = (time: string) => (toMicroseconds(time) / 1_000 - at) / 1_000;
  return rules.windows.map(({ starts_at, ends_at }): Window => [secondsTo(starts_at), secondsTo(ends_at)]);
}

/**
 * Batches of others that may come later and go first: how many come in a second, and for how many
 * of their jobs there is room before this place. Each further job of a user is a step behind the
 * one before.
 */
function arrivalsBefore(
  { batches, tag, batchesPerMinute }: QueueFront,
  { key, user_id: owner }: Pick<FrontItem, 'key' | 'user_id'>,
  before: readonly FrontItem[],
) {
  const others = new Set(batches.map(({ user_id }) => user_id).filter((user) => user !== owner)).size;
  const jobsBefore = before.filter(({ user_id }) => user_id !== owner).reduce((sum, each) => sum + jobsOf(each), 0);
  const rounds = Math.max(0, (tagOfKey(key) - tag) / tagSteps.MEDIUM);
  // If no other user waits, few others are likely to come.
  const skew = others === 0 ? 4 : 1.5;
  return { skew, perSecond: batchesPerMinute / 60, room: Math.max(0, rounds * Math.max(1, others) - jobsBefore) };
}

function jobsOf({ jobs_left }: FrontItem): number {
  return Math.max(1, jobs_left);
}

interface Queue {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly held: readonly FrontItem[];
  readonly before: readonly FrontItem[];
  readonly workers: number;
  readonly windows: readonly Window[];
  readonly arrivals: ReturnType<typeof arrivalsBefore>;
  readonly sample: ReturnType<typeof sampleOf>;
}

type Random = () => number;

/** One play: after how many seconds the batch starts. */
function play({ at, held, before, workers, windows, arrivals, sample }: Queue, random: Random): number {
  const draw = jobTimes(sample, random);
  const free = Array.from({ length: workers }, (_, worker): number => {
    const item = held[worker];
    if (item === undefined) return random() * random() * maxIdleSeconds;
    const left = restOfJob(at, item, draw, random);
    return jobsOf(item) < 2 ? left : runJobs(left, { jobs: jobsOf(item) - 1, each: draw(item) }, windows);
  });
  const next = () => free.indexOf(Math.min(...free));
  for (const item of before) {
    const worker = next();
    free[worker] = runJobs(free[worker] as number, { jobs: jobsOf(item), each: draw(item) }, windows);
  }
  const start = runJobs(free[next()] as number, { jobs: 0, each: 0 }, windows);
  const jobs = Math.min(arrivals.room, arrivals.perSecond * start) * random() ** arrivals.skew;
  return runJobs(start, { jobs: jobs / workers, each: draw() }, windows);
}

/** When jobs that follow each other end. None begins in a window; one that runs goes on in it. */
function runJobs(
  start: number,
  { jobs, each }: { readonly jobs: number; readonly each: number },
  windows: readonly Window[],
): number {
  let [time, left] = [start, jobs];
  for (const [from, to] of windows) {
    if (to <= time) continue;
    const begun = from <= time || each === 0 ? 0 : Math.min(left, Math.ceil((from - time) / each));
    time += begun * each;
    left -= begun;
    if (from <= time && time < to) time = to;
  }
  return time + left * each;
}

/** How long the running job will still take, or the wait for the next one. */
function restOfJob(at: number, item: FrontItem, draw: Draw, random: Random): number {
  const { job_since, job_until = Number.POSITIVE_INFINITY, idle_since } = item;
  if (idle_since !== undefined) return Math.max(0, (idle_since + maxIdleMilliseconds(item) - at) / 1_000) * random();
  const ran = job_since === undefined ? 0 : Math.max(0, (at - job_since) / 1_000);
  const takes = draw(item, ran);
  return Math.min(takes - ran, Math.max(0, (job_until - at) / 1_000));
}

/** The seconds that a job of the batch takes, if it takes longer than `longerThan`. */
type Draw = (item?: FrontItem, longerThan?: number) => number;

/**
 * Draws job times. One factor makes all times of a play shorter or longer: how far the sample may
 * be off. If seconds by shot vary less than seconds by job, they are used for batches with known
 * shots.
 */
function jobTimes({ seconds, perShot, spread }: Queue['sample'], random: Random): Draw {
  const factor = Math.exp(normal(random) * spread);
  return ({ jobs_left, job_shots }: Pick<FrontItem, 'jobs_left' | 'job_shots'> = { jobs_left: 1 }, longerThan = 0) => {
    const [sample, unit] =
      perShot === undefined || job_shots === undefined ? [seconds, factor] : [perShot, factor * job_shots];
    if (longerThan > 0) return drawLonger(sample, { unit, longerThan }, random);
    const pick = () => (sample[Math.floor(random() * sample.length)] ?? 0) * unit;
    if (jobs_left < 2) return pick();
    // Jobs of one batch are alike, by an unknown part.
    const picks = Math.min(8, jobs_left);
    const mean = Array.from({ length: picks }, pick).reduce((sum, each) => sum + each, 0) / picks;
    return (mean + pick()) / 2;
  };
}

/** One of the longer times of the sample; beyond all of them, the tail is a heavy one. */
function drawLonger(
  sample: readonly number[],
  { unit, longerThan }: { readonly unit: number; readonly longerThan: number },
  random: Random,
): number {
  const first = sample.findIndex((each) => each * unit > longerThan);
  const longer = first < 0 ? 0 : sample.length - first;
  // The sample's own tail counts as one more.
  const at = Math.floor(random() * (longer + 1));
  if (at < longer) return (sample[first + at] as number) * unit;
  return longerThan / Math.max(0.03, 1 - random());
}

/** The sample in ascending order, and how far the logarithm of its times may be off. */
function sampleOf(jobs: readonly JobTime[]) {
  const ascending = (values: readonly number[]) => values.toSorted((a, b) => a - b);
  const known = jobs.flatMap(({ seconds, shots }) => (shots === undefined ? [] : { seconds, each: seconds / shots }));
  const seconds = ascending(jobs.map((each) => each.seconds));
  const perShot = ascending(known.map(({ each }) => each));
  const isByShot = known.length > 1 && varianceOfLogs(perShot) < varianceOfLogs(known.map((each) => each.seconds));
  const variance = varianceOfLogs(isByShot ? perShot : seconds);
  const spread = Math.sqrt(drift ** 2 + (variance + 0.5) / Math.max(1, jobs.length));
  return { seconds, perShot: isByShot ? perShot : undefined, spread };
}

function varianceOfLogs(values: readonly number[]): number {
  const logs = values.map((each) => Math.log(Math.max(1e-6, each)));
  const mean = logs.reduce((sum, each) => sum + each, 0) / Math.max(1, logs.length);
  return logs.reduce((sum, each) => sum + (each - mean) ** 2, 0) / Math.max(1, logs.length - 1);
}

/** A number of the standard normal distribution, nearly: the sum of twelve of the uniform one. */
function normal(random: Random): number {
  return Array.from({ length: 12 }, random).reduce((sum, each) => sum + each, -6);
}

/** The same numbers for each estimate: the answer changes only if its input does. */
function randomNumbers(): Random {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
