import { deviceModes } from '../../device-modes.ts';
import { toMicroseconds } from '../../values/timestamp.ts';
import { pauseAt } from './device-rules.ts';
import { workerSlot } from './job-times.ts';
import type { QueueFront } from './queue.ts';
import type { FrontItem } from './queue-item.ts';

/** An idle worker asks again after so long at first (see claim-batch.ts). */
export const claimSeconds = 3;

/** A worker that was not heard of for this time does not count. */
const presentMilliseconds = 60_000;

/**
 * The number of workers: workers with a lease, and idle workers that were heard of in the last
 * minute. Idle workers do not count if a batch is left that they would have taken by now. In a
 * pause no worker is noted: before its end, the workers count that were seen when it began, at
 * least one. A pause by the mode began when the rules were last changed.
 */
export function countWorkers({ at, rules, times, batches }: QueueFront, held: readonly FrontItem[]): number {
  let since = at - presentMilliseconds;
  if (!deviceModes[rules.mode].claims) since = Math.min(since, rules.rev - presentMilliseconds);
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
