import { timeLimits } from '../../time-limits.ts';
import { timeOf } from '../ui/format.ts';

/** When a worker was seen is known to this number of seconds. */
const seenWithin = 30;

/** Whether a worker has not been heard of for longer than a lease lives. `now` in milliseconds. */
export function isSilent({ seen_at }: { readonly seen_at: string }, now: number): boolean {
  return now - timeOf(seen_at) > (timeLimits.lease + seenWithin) * 1_000;
}
