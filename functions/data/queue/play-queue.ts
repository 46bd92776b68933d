/**
 * Plays a device's queue forward: when each of its batches ends, if jobs take as long as was drawn.
 */

import { deviceModes } from '../../device-modes.ts';
import type { DeviceRules } from '../../schemas/device-rules.ts';
import { fromMilliseconds, toMicroseconds } from '../../values/timestamp.ts';
import { claimSeconds } from './count-workers.ts';
import { type Draw, jobTimes, type Random, type Sample } from './draw-job-times.ts';
import { type FrontItem, maxIdleMilliseconds } from './queue-item.ts';

/** A window in which the device starts nothing, in seconds from the front's time on. */
type Window = readonly [start: number, end: number];

/** How often the queue is played: fewer the more batches it has. 1,000 take some 10 ms. */
const maxDraws = 40_000;
const maxPlays = 200;
const minPlays = 60;

export function countPlays(batches: number): number {
  return Math.max(minPlays, Math.min(maxPlays, Math.floor(maxDraws / batches)));
}

/** The share of the plays below the first of the three values, and above the last. */
const tail = 0.03;

/** The least, the likely and the most of what the plays gave. */
export function rangeOf(played: readonly number[]): readonly [least: number, likely: number, most: number] {
  const ascending = Float64Array.from(played).sort();
  const quantile = (share: number) => ascending[Math.floor(share * (ascending.length - 1))] as number;
  return [quantile(tail), quantile(0.5), quantile(1 - tail)];
}

/** Ten years: later times would be no times. */
const maxSeconds = 10 * 365 * 24 * 3600;

/** The times of such a range, canonical; none is before `now`. */
export function timesOf(
  { at }: Pick<PlayedQueue, 'at'>,
  range: ReturnType<typeof rangeOf>,
  now: number,
): { earliest: string; likely: string; latest: string } {
  const timeOf = (seconds: number) =>
    fromMilliseconds(Math.max(now, Math.round(at + Math.min(seconds, maxSeconds) * 1_000)));
  return { earliest: timeOf(range[0]), likely: timeOf(range[1]), latest: timeOf(range[2]) };
}

/** The longest time after which an idle worker asks again. */
const maxIdleSeconds = 20;

/** The longest time after which a worker asks again that asked in a pause (see claim-batch.ts). */
const maxPauseSeconds = 60;

/** What is played. Times of plays are seconds from `at` on. */
export interface PlayedQueue {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** First the batches that workers have, each with its worker. */
  readonly batches: readonly FrontItem[];
  readonly held: number;
  /** At least as many as have a batch. */
  readonly workers: number;
  /** The device hands out nothing now: idle workers ask seldom. */
  readonly isPaused: boolean;
  readonly sample: Sample;
}

/** What chance decides in a play. By worker, or by batch. */
interface Drawn {
  /** When the job that runs ends, or when an idle worker asks for a batch. */
  readonly free: readonly number[];
  /** How long after a window a worker asks. */
  readonly late: readonly number[];
  /** How long each of the batch's jobs takes. */
  readonly each: readonly number[];
}

/** Draws a play. Jobs that start in it take `atMost` seconds. */
export function drawPlay(
  { at, batches, held, workers, isPaused, sample }: PlayedQueue,
  { random, atMost }: { readonly random: Random; readonly atMost: number | undefined },
): Drawn {
  const draw = jobTimes(sample, random);
  const asks = () => (isPaused ? random() * maxPauseSeconds : random() * random() * maxIdleSeconds);
  const bounds = { atMost };
  const each = batches.map((item) => draw(item, bounds));
  const free = Array.from({ length: workers }, (_, worker) =>
    worker < held ? restOfJob(at, batches[worker] as FrontItem, draw, random) : asks(),
  );
  return { each, free, late: free.map(() => random() * random() * claimSeconds) };
}

/** How long the running job will still take, or the wait for the next one. */
function restOfJob(at: number, item: FrontItem, draw: Draw, random: Random): number {
  const { job_since, job_until = Number.POSITIVE_INFINITY, idle_since } = item;
  if (idle_since !== undefined) return Math.max(0, (idle_since + maxIdleMilliseconds(item) - at) / 1_000) * random();
  const ran = job_since === undefined ? 0 : Math.max(0, (at - job_since) / 1_000);
  const takes = draw(item, { longerThan: ran });
  return Math.min(takes - ran, Math.max(0, (job_until - at) / 1_000));
}

/** The course of things: what the device does, and the order in which it takes batches. */
export interface Course {
  readonly claims: boolean;
  /** A batch that a worker has goes on with its next job. */
  readonly goesOn: boolean;
  readonly windows: readonly Window[];
  /** The batches that no worker has. */
  readonly order: readonly number[];
  /** By batch: the earlier, the smaller. */
  readonly rank: readonly number[];
}

/** The course under these rules, with the batches at the places that these keys give them. */
export function courseOf(
  { at, batches, held }: PlayedQueue,
  { mode, windows }: DeviceRules,
  keys: readonly string[] = batches.map(({ key }) => key),
): Course {
  const { claims, goesOn } = deviceModes[mode];
  const ranked = keys.map((key, batch) => ({ key, batch })).sort((a, b) => (a.key < b.key ? -1 : 1));
  const rank: number[] = [];
  for (const [place, { batch }] of ranked.entries()) rank[batch] = place;
  const order = ranked.flatMap(({ batch }) => (batch < held ? [] : batch));
  return { claims, goesOn, windows: windowsOf(at, windows), order, rank };
}

function windowsOf(at: number, windows: DeviceRules['windows']): Window[] {
  const secondsTo = (time: string) => (toMicroseconds(time) / 1_000 - at) / 1_000;
  return windows.map(({ starts_at, ends_at }): Window => [secondsTo(starts_at), secondsTo(ends_at)]);
}

interface Worker {
  /** When it does something next; infinite while it waits for a batch to come back. */
  time: number;
  /** The batch that it has, whose last job ends at that time. */
  has: number | undefined;
  readonly late: number;
}

interface Play extends Course {
  readonly each: readonly number[];
  /** By batch, the jobs that have not begun. */
  readonly left: number[];
  /** By batch. */
  readonly ends: number[];
  /** In their order. */
  readonly waiting: number[];
  readonly workers: readonly Worker[];
}

/** By batch, when its last job ends; infinite where the course lets it never begin. */
export function playQueue(
  { batches, held }: PlayedQueue,
  course: Course,
  { free, late, each }: Drawn,
): readonly number[] {
  const play: Play = {
    ...course,
    each,
    left: batches.map(({ jobs_left }, batch) => Math.max(0, jobs_left - (batch < held ? 1 : 0))),
    ends: batches.map(() => Number.POSITIVE_INFINITY),
    waiting: [...course.order],
    workers: free.map((time, at) => ({ time, has: at < held ? at : undefined, late: late[at] as number })),
  };
  for (;;) {
    let worker = play.workers[0] as Worker;
    for (const other of play.workers) if (other.time < worker.time) worker = other;
    if (worker.time === Number.POSITIVE_INFINITY) return play.ends;
    goOn(play, worker);
  }
}

/** What a worker does whose job has ended, or that asks for a batch. */
function goOn(play: Play, worker: Worker): void {
  const { claims, goesOn, windows, each, left, ends, waiting } = play;
  const { time, has } = worker;
  const window = windows.find(([from, to]) => from <= time && time < to);
  if (has !== undefined && left[has] === 0) {
    ends[has] = time;
    worker.has = undefined;
  } else if (has !== undefined && (window !== undefined || !goesOn)) {
    putBack(play, has, time);
    worker.has = undefined;
  }
  if (worker.has === undefined) {
    worker.time = claims && window !== undefined ? window[1] + worker.late : Number.POSITIVE_INFINITY;
    if (!claims || window !== undefined) return;
    worker.has = waiting.shift();
    if (worker.has === undefined) return;
  }
  // A job that runs when a window begins goes on in it.
  const batch = worker.has;
  const until = windows.find(([from]) => from > time)?.[0] ?? Number.POSITIVE_INFINITY;
  const [jobs, seconds] = [left[batch] as number, each[batch] as number];
  const begun = seconds > 0 ? Math.min(jobs, Math.ceil((until - time) / seconds)) : jobs;
  left[batch] = jobs - begun;
  worker.time = time + begun * seconds;
}

/** The batch waits again at its place. */
function putBack({ waiting, workers, rank }: Play, batch: number, time: number): void {
  const place = waiting.findIndex((other) => (rank[other] as number) > (rank[batch] as number));
  waiting.splice(place < 0 ? waiting.length : place, 0, batch);
  for (const worker of workers) if (worker.time === Number.POSITIVE_INFINITY) worker.time = time;
}
