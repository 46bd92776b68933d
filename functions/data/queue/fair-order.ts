/**
 * The order in which a device takes batches: fair between users by work, by priority, without
 * starvation. It is start-time fair queueing (Goyal, Vin and Cheng, 1996): each user is a flow, and
 * a job is the unit of work.
 *
 * Every batch gets a tag when it enters the queue, and the smallest tag is next. A batch is charged
 * to its user: it takes up virtual time, as long as its jobs need at the rate of its priority. Its
 * tag is the start of its last job. If less urgent work of the user is charged as well, the tag is
 * the end of that job instead. Tags are whole numbers, so that sums are exact.
 */

import { QueuePriority } from '../../schemas/values.ts';
import { queueKeyPattern } from '../../values/queue-key-pattern.ts';

/**
 * The virtual time of one job. The rates, jobs by time, are in the proportion of 32, 8, 4, 2 and 1.
 * A step is large, because the ends of charges are rounded up.
 */
export const tagSteps: Readonly<Record<QueuePriority, number>> = {
  CRITICAL: 100,
  HIGH: 400,
  MEDIUM: 800,
  LOW: 1_600,
  FREE: 3_200,
};

/** From a time to before another one. */
export type TimeRange = [from: number, to: number];

/** What a user's work of one priority is charged. */
export interface PriorityClock {
  /** Where the charges end; 0 where there was none. */
  readonly end: number;
  /**
   * Earlier charges, in ascending order and never adjacent, of batches that left the queue before a
   * device took them. They are given back only from the end. A new batch in the place of one of
   * them would be one batch more ahead of others that wait behind it.
   */
  readonly withdrawn: readonly TimeRange[];
}

/** A user's clock for a device: what was charged, by priority. */
export type UserClock = Readonly<Partial<Record<QueuePriority, PriorityClock>>>;

/** What the tag of the next batch follows from. */
interface Clocks {
  /**
   * The tag of the batch that the device took last. A user who was away gets no turns back: the
   * device has passed them.
   */
  readonly device: number;
  readonly user: UserClock;
}

/** Jobs to charge together. */
export interface Work {
  readonly priority: QueuePriority;
  /** At least 1. */
  readonly jobs: number;
  /** They are charged from here on, or later. */
  readonly notBefore?: number;
}

/** The tag of a batch that ends with these jobs, their charge, and the clock after it. */
export function placeWork(
  { device, user }: Clocks,
  { priority, jobs, notBefore = 0 }: Work,
): { tag: number; charge: TimeRange; user: UserClock } {
  const from = Math.max(device, notBefore, workEnd(user, priority));
  const to = chargeEnd(user, from, { priority, jobs });
  // What the device has passed is worth nothing any more.
  const withdrawn = user[priority]?.withdrawn.filter(([, end]) => end > device) ?? [];
  // Less urgent work of the same user begins its jobs at the start of their charges. If a job of
  // this work did so as well, the user would be two jobs ahead. So it begins once it is paid for.
  const paidAt = Math.min(to, slowerEnd(user, priority));
  const tag = Math.max(to - tagSteps[priority], paidAt);
  return { tag, charge: [from, to], user: { ...user, [priority]: { end: to, withdrawn } } };
}

/** Where the charges of a user's less urgent work end. */
function slowerEnd(user: UserClock, priority: QueuePriority): number {
  const { options } = QueuePriority;
  return Math.max(0, ...options.slice(options.indexOf(priority) + 1).map((each) => user[each]?.end ?? 0));
}

/**
 * Where the charges end of a user's work that is at least as urgent as this priority. Less urgent
 * work does not count: urgent work never waits behind the same user's slow work.
 */
export function workEnd(user: UserClock, priority: QueuePriority): number {
  const { options } = QueuePriority;
  return Math.max(...options.slice(0, options.indexOf(priority) + 1).map((each) => user[each]?.end ?? 0));
}

/**
 * Where the charge of jobs ends that begins at `time`. While less urgent work is charged as well,
 * only the difference of the rates is left. So all work of a user is never charged faster than its
 * most urgent work alone, and spreading work over priorities gains nothing.
 */
function chargeEnd(user: UserClock, time: number, { priority, jobs }: Work): number {
  const rateOf = (each: QueuePriority) => tagSteps.FREE / tagSteps[each];
  let [end, left] = [time, jobs * tagSteps.FREE];
  for (const slower of QueuePriority.options.slice(QueuePriority.options.indexOf(priority) + 1)) {
    const slowerEnd = user[slower]?.end ?? 0;
    if (slowerEnd <= end) continue;
    const rate = rateOf(priority) - rateOf(slower);
    const room = (slowerEnd - end) * rate;
    if (room >= left) return end + Math.ceil(left / rate);
    [end, left] = [slowerEnd, left - room];
  }
  return end + Math.ceil(left / rateOf(priority));
}

/** The latest ranges are kept, the others forgotten: the clock's item stays within a write unit. */
export const maxWithdrawnRanges = 24;

/**
 * The user's clock once work that no device took has left the queue. It goes back to the last work
 * of this priority that waits or was taken. So canceling a batch to create another one gains
 * nothing.
 */
export function withdrawWork(user: UserClock, priority: QueuePriority, [from, to]: TimeRange): UserClock {
  const { end, withdrawn } = user[priority] ?? { end: 0, withdrawn: [] };
  // A charge of no such clock, or of none: the clock was lost, or the charge damaged.
  if (!(from < to && to <= end)) return user;
  const first = withdrawn.find((range) => range[1] === from)?.[0] ?? from;
  const last = withdrawn.find((range) => range[0] === to)?.[1] ?? to;
  const others = withdrawn.filter((range) => range[1] < first || range[0] > last);
  if (last === end) return { ...user, [priority]: { end: first, withdrawn: others } };
  const ofOthers = Object.entries(user).flatMap(([each, clock]) => (each === priority ? [] : clock.withdrawn)).length;
  const ranges = [...others, [first, last] satisfies TimeRange].sort((a, b) => a[0] - b[0]);
  const forgotten = Math.max(0, ranges.length + ofOthers - maxWithdrawnRanges);
  return { ...user, [priority]: { end, withdrawn: ranges.slice(forgotten) } };
}

/**
 * The charges of a batch with one more. Adjacent ones are joined, and of more than 24 the latest
 * are kept.
 */
export function withCharge(charges: readonly TimeRange[], [from, to]: TimeRange): TimeRange[] {
  const last = charges.at(-1);
  const joined: TimeRange[] = last?.[1] === from ? [...charges.slice(0, -1), [last[0], to]] : [...charges, [from, to]];
  return joined.slice(-maxWithdrawnRanges);
}

/** What a batch's place in the queue follows from. */
export interface QueuePlace {
  readonly tag: number;
  readonly priority: QueuePriority;
  /** Canonical time. */
  readonly created_at: string;
  readonly batchId: string;
}

/** As many as 2^53 has. */
const tagDigits = 16;

/**
 * The key whose order as a text is the order of the queue: by tag, then by priority, then by age.
 */
export function queueKey({ tag, priority, created_at, batchId }: QueuePlace): string {
  return `${String(tag).padStart(tagDigits, '0')}.${QueuePriority.options.indexOf(priority)}.${created_at}.${batchId}`;
}

/** The place that a key says. Throws RangeError for a text that is no key. */
export function placeOfKey(key: string): QueuePlace {
  const match = queueKeyPattern.exec(key);
  if (match === null) throw new RangeError(`${key} is no key of the queue.`);
  const [, tag, priority, created_at = '', batchId = ''] = match;
  return { tag: Number(tag), priority: QueuePriority.options[Number(priority)] as QueuePriority, created_at, batchId };
}

export function tagOfKey(key: string): number {
  return Number(key.slice(0, tagDigits));
}

export function batchIdOfKey(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}
