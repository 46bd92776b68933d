/**
 * The order in which a device takes batches: fair between users, by priority, without starvation.
 * It is start-time fair queueing (Goyal, Vin and Cheng, 1996), each user and priority being a flow
 * of its own.
 *
 * Every batch gets a tag when it enters the queue, and the smallest tag is next. A user's batches
 * of one priority stand apart by one step, which is the shorter the higher the priority. So two
 * users take turns, and a HIGH batch passes LOW ones, but only four for each of theirs. Tags are
 * whole numbers, so that sums are exact.
 */

import { queueKeyPattern } from '../../queue-key-pattern.ts';
import { QueuePriority } from '../../schemas/values.ts';

/**
 * From a batch to the user's next one of the same priority: 32 by the weight of the priority, which
 * is 32, 8, 4, 2 and 1.
 */
export const tagSteps: Readonly<Record<QueuePriority, number>> = { CRITICAL: 1, HIGH: 4, MEDIUM: 8, LOW: 16, FREE: 32 };

/** A user's clock for a device and a priority. */
export interface UserClock {
  /** One step behind the user's last batch of this priority; 0 where there was none. */
  readonly tag: number;
  /**
   * Steps before it whose batches left the queue before a device took them: from a tag to before
   * another one, in ascending order, never adjacent. They are given back only from the end: a new
   * batch in one of them would be a further one beside those that wait behind it.
   */
  readonly withdrawn: readonly (readonly [from: number, to: number])[];
}

/** What the tag of the next batch follows from. */
export interface Clocks {
  /**
   * The tag of the batch that the device took last: a user who was away does not get back the turns
   * that nobody missed.
   */
  readonly device: number;
  readonly user: UserClock;
}

export const newUserClock: UserClock = { tag: 0, withdrawn: [] };

/** The tag of a user's next batch, and the user's clock after it. */
export function placeBatch({ device, user }: Clocks, priority: QueuePriority): { tag: number; user: UserClock } {
  const tag = Math.max(device, user.tag);
  // What the device has passed is worth nothing any more.
  const withdrawn = user.withdrawn.filter(([, to]) => to > device);
  return { tag, user: { tag: tag + tagSteps[priority], withdrawn } };
}

/** Of more, the earliest are forgotten: the clock's item stays within a write unit. */
export const maxWithdrawnRanges = 24;

/**
 * The user's clock once a batch that no device took has left the queue. It goes back behind the
 * last batch that waits or was taken. So the user's batches stay one step apart, and who cancels a
 * batch to create another one gains nothing.
 */
export function withdrawBatch(user: UserClock, { tag, priority }: Pick<QueuePlace, 'tag' | 'priority'>): UserClock {
  const end = tag + tagSteps[priority];
  // A place of no such clock, or of none: the clock was lost, or the key damaged.
  if (!(end <= user.tag)) return user;
  const from = user.withdrawn.find(([, to]) => to === tag)?.[0] ?? tag;
  const to = user.withdrawn.find(([start]) => start === end)?.[1] ?? end;
  const others = user.withdrawn.filter((range) => range[1] < from || range[0] > to);
  if (to === user.tag) return { tag: from, withdrawn: others };
  return {
    tag: user.tag,
    withdrawn: [...others, [from, to] as const].sort((a, b) => a[0] - b[0]).slice(-maxWithdrawnRanges),
  };
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
