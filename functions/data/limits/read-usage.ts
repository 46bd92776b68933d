/** What users have used, from the sums that the lifecycle keeps (usage-sums.ts). */

import { monthsOf } from '../../values/timestamp.ts';
import type { Db } from '../dynamodb/db.ts';
import { queryAll } from '../dynamodb/reads.ts';
import { sumUsage, type Usage, usageOfItem, usagePartitions, usagePrefix } from './usage-sums.ts';

/** Days in UTC, both inclusive. */
export interface UsageSpan {
  readonly from: string;
  readonly to: string;
}

/**
 * Reads the usage of a user, strongly consistent. A month takes 1 read unit for about 15 items, of
 * which each day, project and device type has up to four, and 1 for what an earlier release may
 * have written.
 * Without a user, reads everyone's, eventually consistent, at half the price, in 9 calls for each
 * month. In no order; a place may come twice.
 *
 * Jobs of a batch that a worker has may be missing, 3 at most (lifecycle/sum-usage.ts).
 */
export async function readUsage(
  db: Db<'Usage'>,
  userId: string | undefined,
  { from, to }: UsageSpan,
): Promise<Usage[]> {
  const partitions = monthsOf(from, to).flatMap((month) => usagePartitions(month, userId));
  const reads = partitions.map(async (month) => {
    const read = { table: 'Usage', partition: { month }, sortKey: 'key' } as const;
    if (userId === undefined) return queryAll(db, { ...read, range: 'all', consistent: false });
    const prefix = usagePrefix(userId);
    // The day is followed by `#`, and `$` comes next.
    const between = [`${prefix}${from}`, `${prefix}${to}$`] as const;
    return queryAll(db, { ...read, range: { between }, consistent: true });
  });
  const items = (await Promise.all(reads)).flat();
  return items.map(usageOfItem).filter(({ day }) => day >= from && day <= to);
}

/** Sums of one period and group. */
export interface UsageSum {
  /** The period, then the groups. */
  readonly place: readonly string[];
  readonly amounts: Usage['amounts'];
}

/** The sums by these texts, sorted by them; sums that are all zero are left out. */
export function groupUsage(usage: readonly Usage[], placeOf: (usage: Usage) => readonly string[]): UsageSum[] {
  return sumUsage(usage, (each) => JSON.stringify(placeOf(each)))
    .map((sum) => ({ place: placeOf(sum), amounts: sum.amounts }))
    .sort((left, right) => comparePlaces(left.place, right.place));
}

function comparePlaces(left: readonly string[], right: readonly string[]): number {
  const at = left.findIndex((text, place) => text !== right[place]);
  if (at < 0) return 0;
  return (left[at] as string) < (right[at] as string) ? -1 : 1;
}
