/**
 * How long batches wait for their first worker. The device's clock counts them by the minute of the
 * claim, one attribute a minute, for an hour. With its other attributes it stays within a write
 * unit.
 */

import { minuteOf } from '../../values/timestamp.ts';
import type { Item } from '../dynamodb/reads.ts';

const minutesKept = 60;

/**
 * Such an attribute is a number: this amount for each batch, plus the seconds that all have waited.
 */
const perBatch = 10 ** 10;

/** Names sort by their minute, until the year 2084. None is a word that DynamoDB reserves. */
function nameOf(minute: number): string {
  return `w_${minute.toString(36)}`;
}

/** The attributes of the last hour. */
export function namesOfTimes(now: number): string[] {
  return Array.from({ length: minutesKept }, (_, ago) => nameOf(minuteOf(now) - ago));
}

/** The attributes of a clock that are older than that. */
export function namesOfOldTimes(clock: Item | undefined, now: number): string[] {
  const first = nameOf(minuteOf(now) - minutesKept + 1);
  return Object.keys(clock ?? {}).filter((name) => /^w_[0-9a-z]{5}$/.test(name) && name < first);
}

/** The end of an update of the clock that counts a batch, and takes away what is old. */
export function countTime({
  entered_at,
  now,
  oldTimes,
}: {
  readonly entered_at: number;
  readonly now: number;
  readonly oldTimes: readonly string[];
}) {
  const seconds = Math.max(0, Math.round((now - entered_at) / 1_000));
  return {
    expression: `ADD ${nameOf(minuteOf(now))} :waited${oldTimes.length > 0 ? ` REMOVE ${oldTimes.join()}` : ''}`,
    values: { ':waited': perBatch + seconds },
  };
}

/** Batches that got their first worker, and the seconds that all have waited. */
export interface StartedBatches {
  readonly batches: number;
  readonly seconds: number;
}

function countedAt(clock: Item | undefined, name: string): StartedBatches {
  const counted = Number(clock?.[name] ?? 0);
  return { batches: Math.floor(counted / perBatch), seconds: counted % perBatch };
}

/** The batches that were claimed in the minute of this time, within the last hour. */
export function startedInMinute(clock: Item | undefined, time: number): StartedBatches {
  return countedAt(clock, nameOf(minuteOf(time)));
}

/** The batches of the last hour, by minutes back from now. */
function countedTimes(clock: Item | undefined, now: number) {
  return namesOfTimes(now).map((name) => countedAt(clock, name));
}

/** In seconds, to the minute of the claims; null without any within the last hour. */
export function averageTime(clock: Item | undefined, now: number): number | null {
  const counted = countedTimes(clock, now);
  const batches = counted.reduce((sum, each) => sum + each.batches, 0);
  const seconds = counted.reduce((sum, each) => sum + each.seconds, 0);
  return batches === 0 ? null : Math.round(seconds / batches);
}

/** How many batches a minute were claimed for the first time, since the first of the last hour. */
export function batchesPerMinute(clock: Item | undefined, now: number): number {
  const counted = countedTimes(clock, now);
  const batches = counted.reduce((sum, each) => sum + each.batches, 0);
  return batches / (counted.findLastIndex((each) => each.batches > 0) + 1 || 1);
}
