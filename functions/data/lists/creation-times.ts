/**
 * When rows were created, as the time index shows it: between the times of two entries. Rows of
 * several owners are put in order by it, and only rows that it leaves in doubt are read.
 */

import { toMicroseconds } from '../../values/timestamp.ts';
import { rowOfTimeEntry, timeIndexPrefix } from '../columns/time-index.ts';
import { queryAll, queryLast } from '../dynamodb/reads.ts';
import { StaleRead } from './join-blocks.ts';
import { columnsHead, keysBetween, type OwnerReads } from './owner-reads.ts';
import type { Span } from './span.ts';

export interface CreationTimes {
  readonly rowsPerEntry: number;
  /** The number of the first entry that was read: that of row `first * rowsPerEntry`. */
  readonly first: number;
  /** The times of this entry and all that follow, in microseconds. */
  readonly entries: readonly number[];
  /** When the newest row was created. */
  readonly last: number;
}

/** The newest entries: the first pages of most lists need no others. About one read unit. */
const newestEntries = 64;

/**
 * By the newest entries of the owner's index, or by all: 2.5 read units for each 10,000 rows.
 * Throws StaleRead when an entry is missing.
 */
export async function readCreationTimes(reads: OwnerReads, extent: 'newest' | 'all'): Promise<CreationTimes> {
  const { rowsPerTimeEntry } = reads.list;
  const prefix = timeIndexPrefix(reads.list);
  const range = keysBetween(reads, prefix, `${prefix}~`);
  const [{ next_seq, last_created_at }, items] = await Promise.all([
    columnsHead(reads),
    extent === 'all' ? queryAll(reads.db, range) : queryLast(reads.db, range, newestEntries),
  ]);
  const found = items.map((item) => ({
    number: rowOfTimeEntry(item) / rowsPerTimeEntry,
    time: toMicroseconds(String(item.key).slice(prefix.length)),
  }));
  found.sort((a, b) => a.number - b.number);
  const first = found[0]?.number ?? 1;
  const newest = Math.floor(Math.max(next_seq - 1, 0) / rowsPerTimeEntry);
  const isComplete = first === 1 || (extent === 'newest' && found.length === newestEntries);
  if (!isComplete || first + found.length <= newest || found.some(({ number }, at) => number !== first + at))
    throw new StaleRead('The time index lacks an entry.');
  const last = last_created_at === null ? 0 : toMicroseconds(last_created_at);
  return { rowsPerEntry: rowsPerTimeEntry, first, entries: found.map(({ time }) => time), last };
}

/** The rows of the entry that has this row. */
export function entryOf({ rowsPerEntry }: CreationTimes, row: number): number {
  return Math.floor(row / rowsPerEntry);
}

/** Whether only entries that are older than the ones read show the row's time. */
export function isBeforeEntries(times: CreationTimes, row: number): boolean {
  return times.first > 1 && entryOf(times, row) < times.first;
}

/** These rows were created between the two times, both inclusive. */
export function boundsOfCreation(times: CreationTimes, { from, to }: Span): { low: number; high: number } {
  const { first, entries, last } = times;
  const next = Math.max(entryOf(times, to) + 1 - first, 0);
  const following = entries[next];
  return {
    low: entries[entryOf(times, from) - first] ?? 0,
    high: following === undefined ? last : following - 1,
  };
}
