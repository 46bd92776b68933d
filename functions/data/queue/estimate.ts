/**
 * When a batch that waits is likely to start: the queue is played forward a number of times, with
 * job times drawn from the device's last reports. What varies between the plays is the answer's
 * range.
 */

import { noEstimate, type StartEstimate } from '../../schemas/estimate.ts';
import { countWorkers } from './count-workers.ts';
import { whyNoStart } from './device-rules.ts';
import { jobTimes, type Random, randomNumbers, sampleOf } from './draw-job-times.ts';
import { tagOfKey, tagSteps } from './fair-order.ts';
import {
  type Course,
  countPlays,
  courseOf,
  drawPlay,
  type PlayedQueue,
  playQueue,
  rangeOf,
  timesOf,
} from './play-queue.ts';
import { maxCountedBatches, type QueueFront } from './queue.ts';
import type { FrontItem } from './queue-item.ts';

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
  // It has no job here: so its end in a play is its start.
  const last = { ...batch, lease_until: 0, jobs_left: 0 };
  const queue = {
    ...{ at, batches: [...held, ...before, last], held: held.length, workers },
    isPaused: false,
    sample: sampleOf(times.jobs),
  };
  const course = courseOf(queue, rules);
  const arrivals = arrivalsBefore(front, batch, before);
  const chance = { arrivals, random: randomNumbers(), atMost: rules.max_job_seconds };
  const starts = Array.from({ length: countPlays(queue.batches.length) }, () => startIn(queue, course, chance));
  return { estimated_start: timesOf(front, rangeOf(starts), now), estimated_start_reason: null };
}

/** One play: after how many seconds the last batch starts. */
function startIn(queue: PlayedQueue, course: Course, { arrivals, random, atMost }: Chance): number {
  const drawn = drawPlay(queue, { random, atMost });
  const start = playQueue(queue, course, drawn).at(-1) as number;
  const jobs = Math.min(arrivals.room, arrivals.perSecond * start) * random() ** arrivals.skew;
  let time = start + (jobs / queue.workers) * jobTimes(queue.sample, random)();
  for (const [from, to] of course.windows) if (start <= from && from < time) time += to - from;
  return time;
}

interface Chance {
  readonly arrivals: ReturnType<typeof arrivalsBefore>;
  readonly random: Random;
  readonly atMost: number | undefined;
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
  const jobsBefore = before.filter(({ user_id }) => user_id !== owner).reduce((sum, each) => sum + each.jobs_left, 0);
  const rounds = Math.max(0, (tagOfKey(key) - tag) / tagSteps.MEDIUM);
  // If no other user waits, few others are likely to come.
  const skew = others === 0 ? 4 : 1.5;
  return { skew, perSecond: batchesPerMinute / 60, room: Math.max(0, rounds * Math.max(1, others) - jobsBefore) };
}
