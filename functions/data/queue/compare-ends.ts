/**
 * Which batches an act would end at another time: the queue is played without it and with it, each
 * time with the same job times. What varies between the plays is the range.
 */

import type { DeviceRules } from '../../schemas/device-rules.ts';
import type { EstimatedEnd, MovedBatch, NoEndReason } from '../../schemas/preview.ts';
import { countWorkers } from './count-workers.ts';
import { pauseAt, whyNoStart } from './device-rules.ts';
import { type Random, randomNumbers, sampleOf } from './draw-job-times.ts';
import { batchIdOfKey } from './fair-order.ts';
import { countPlays, courseOf, drawPlay, type PlayedQueue, playQueue, rangeOf, timesOf } from './play-queue.ts';
import { maxCountedBatches, type QueueFront } from './queue.ts';
import type { FrontItem } from './queue-item.ts';

/** What an operator may do to a queue. */
export interface QueueAct {
  /** The device's new rules. */
  readonly rules?: DeviceRules;
  /** A batch, and the key of its new place. */
  readonly moved?: { readonly item: FrontItem; readonly key: string };
}

/** A batch as the queue has it, and its ends. */
interface MovedItem
  extends Pick<
    MovedBatch,
    'is_at_work' | 'ends_before' | 'ends_before_reason' | 'ends_after' | 'ends_after_reason' | 'delay_seconds'
  > {
  readonly item: FrontItem;
}

interface ComparedEnds {
  /** Those without a new end first, then the longest likely delays. */
  readonly moved: readonly MovedItem[];
  /** How many batches were played. */
  readonly played: number;
}

/** A smaller difference is none, in seconds. */
const leastDelay = 1;

/**
 * The batches whose end the act may move: by a second or more at one end of the range, or from or
 * to a time that is not known. The same front and act get the same answer.
 *
 * - Counted is what is in the queue: its first 1,000 batches. Batches and jobs that come later are
 *   left out, and so are the waits of open batches for them.
 * - Where no job time or no worker is known, jobs of a minute and one worker show which batches
 *   move. Their times are null.
 * - A batch behind the first 1,000 has no known end.
 */
export function compareEnds(front: QueueFront, act: QueueAct, now: number): ComparedEnds {
  const { queue, why, sides } = planPlays(front, act);
  const ends = playBoth(queue, sides);
  const moved = queue.batches.flatMap((item, batch): readonly (MovedItem & { readonly order: number })[] => {
    const [before, after] = sides.map((side, at): End => {
      const range = rangeOf(ends[at]![batch]!);
      const reason = range[2] === Number.POSITIVE_INFINITY ? whyNever(side.rules) : why(side.keys[batch]!);
      return { reason, time: reason === null ? timesOf(front, range, now) : null };
    }) as [End, End];
    const [least, likely, most] = delayOf(ends[0]![batch]!, ends[1]![batch]!);
    const isMoved = before.reason !== after.reason || most >= leastDelay || least <= -leastDelay;
    if (item.jobs_left === 0 || !isMoved) return [];
    const order = after.time === null ? Number.POSITIVE_INFINITY : likely;
    const shown = {
      is_at_work: batch < queue.held,
      ends_before: before.time,
      ends_before_reason: before.reason,
      ends_after: after.time,
      ends_after_reason: after.reason,
      delay_seconds: before.time === null || after.time === null ? null : { least, likely, most },
    };
    return [{ item, ...shown, order }];
  });
  moved.sort((a, b) => (a.order === b.order ? 0 : b.order - a.order));
  return { moved: moved.map(({ order, ...each }) => each), played: queue.batches.length };
}

interface End {
  readonly reason: NoEndReason | null;
  readonly time: EstimatedEnd | null;
}

/** The course of things without the act, or with it. */
interface Side {
  readonly rules: DeviceRules;
  /** By batch, the key of its place. */
  readonly keys: readonly string[];
}

/** What is played, on both sides; and by the key of a place why an end there is not known. */
function planPlays(front: QueueFront, { rules, moved }: QueueAct) {
  const { at, times } = front;
  const first = front.batches.slice(0, maxCountedBatches);
  // The front may show the batch where it was a moment ago, or twice.
  const byId = new Map([...first, ...(moved ? [moved.item] : [])].map((item) => [batchIdOfKey(item.key), item]));
  const known = [...byId.values()];
  const held = known.filter(({ lease_until }) => lease_until > at);
  const batches = [...held, ...known.filter(({ lease_until }) => lease_until <= at)];
  const workers = countWorkers(front, held);
  const queue: PlayedQueue = {
    ...{ at, batches, held: held.length, workers: Math.max(1, workers) },
    isPaused: pauseAt(front.rules, at) !== undefined,
    sample: sampleOf(times.jobs.length > 0 ? times.jobs : [{ seconds: 60, shots: undefined }]),
  };
  const keys = batches.map(({ key }) => key);
  const sides: readonly Side[] = [
    { rules: front.rules, keys },
    { rules: rules ?? front.rules, keys: keys.map((key) => (key === moved?.item.key ? moved.key : key)) },
  ];
  const last = front.batches.length > first.length ? first.at(-1)?.key : undefined;
  const why = (key: string): NoEndReason | null => {
    if (workers === 0) return 'no_worker';
    return times.jobs.length === 0 || (last !== undefined && key > last) ? 'unknown' : null;
  };
  return { queue, sides, why };
}

/** Why a batch may never end that these rules stop. */
function whyNever(rules: DeviceRules): NoEndReason {
  return whyNoStart(rules) ?? 'unknown';
}

/** By side and by batch, its ends in all plays. */
function playBoth(queue: PlayedQueue, sides: readonly Side[]): readonly (readonly number[][])[] {
  const random = randomNumbers();
  const courses = sides.map(({ rules, keys }) => ({
    course: courseOf(queue, rules, keys),
    atMost: rules.max_job_seconds,
    ends: queue.batches.map((): number[] => []),
  }));
  const isSame = courses.every(({ atMost }) => atMost === courses[0]?.atMost);
  for (let play = 0; play < countPlays(queue.batches.length); play++) {
    const numbers: number[] = [];
    const draw = (atMost: number | undefined) => drawPlay(queue, { random: repeated(random, numbers), atMost });
    const common = isSame ? draw(courses[0]?.atMost) : undefined;
    for (const { course, atMost, ends } of courses) {
      playQueue(queue, course, common ?? draw(atMost)).forEach((end, batch) => {
        ends[batch]!.push(end);
      });
    }
  }
  return courses.map(({ ends }) => ends);
}

/** The numbers that are known, from the first on; then new ones, which become known. */
function repeated(random: Random, numbers: number[]): Random {
  let at = 0;
  return () => {
    if (at === numbers.length) numbers.push(random());
    return numbers[at++]!;
  };
}

/** How much later the batch ends, in seconds to the millisecond; 0 where it never does. */
function delayOf(before: readonly number[], after: readonly number[]): readonly [number, number, number] {
  const delays = before.map((end, play) => after[play]! - end).filter(Number.isFinite);
  if (delays.length === 0) return [0, 0, 0];
  const [least, likely, most] = rangeOf(delays).map((seconds) => Math.round(seconds * 1_000) / 1_000);
  return [least!, likely!, most!];
}
