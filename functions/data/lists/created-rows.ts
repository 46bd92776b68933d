/**
 * Which rows were created within bounds of time. Creation times ascend with sequence numbers, so
 * they are a span of the sequence.
 */

import type { Row } from '../columns/column-items.ts';
import { rowOfTimeEntry, timeIndexPrefix } from '../columns/time-index.ts';
import { queryLast } from '../dynamodb/reads.ts';
import { StaleRead } from './join-blocks.ts';
import { columnsHead, keysBetween, type OwnerReads } from './owner-reads.ts';
import type { Condition } from './query.ts';
import { rowsAt } from './row-reads.ts';
import type { Span } from './span.ts';

export interface CreatedRows {
  /** No other rows were created within the bounds. */
  readonly possible: Span;
  /** All of these rows were. */
  readonly certain: Span;
  /** Exactly these rows were, by the rows around each bound: at most 33, which one call reads. */
  readonly exact: Promise<Span>;
}

/** How many rows were created up to a time. */
interface CountUpTo {
  readonly least: number;
  readonly most: number;
  exact(): Promise<number>;
}

/**
 * The rows that meet all conditions on their creation, as far as the time index shows them;
 * undefined without such a condition. Costs half a read unit for each bound. Throws StaleRead when
 * the index contradicts the head or the rows.
 */
export async function createdRows(
  reads: OwnerReads,
  conditions: readonly Condition[],
): Promise<CreatedRows | undefined> {
  if (!conditions.some(({ kind }) => kind === 'created')) return undefined;
  const { from, to } = boundsOf(conditions);
  const [before, end] = await Promise.all([
    // A canonical time without its last character sorts behind all earlier times, before itself.
    from === undefined ? known(0) : countUpTo(reads, from.slice(0, -1)),
    to === undefined ? columnsHead(reads).then(({ next_seq }) => known(next_seq)) : countUpTo(reads, to),
  ]);
  const exact = Promise.all([before.exact(), end.exact()]).then(([from, after]) => ({ from, to: after - 1 }));
  // Another read may fail before this is awaited.
  exact.catch(() => {});
  return {
    possible: { from: before.least, to: end.most - 1 },
    certain: { from: before.most, to: end.least - 1 },
    exact,
  };
}

/** The rows that meet all conditions on their creation. */
export function keepCreated(conditions: readonly Condition[], rows: readonly Row[]): readonly Row[] {
  const { from = '', to = '~' } = boundsOf(conditions);
  return rows.filter(({ created_at }) => String(created_at) >= from && String(created_at) <= to);
}

/** The latest `from` and the earliest `to`, both inclusive. */
function boundsOf(conditions: readonly Condition[]) {
  const created = conditions.filter((condition) => condition.kind === 'created');
  const from = created.flatMap((condition) => condition.from ?? []).sort();
  const to = created.flatMap((condition) => condition.to ?? []).sort();
  return { from: from.at(-1), to: to.at(0) };
}

function known(count: number): CountUpTo {
  return { least: count, most: count, exact: async () => count };
}

/** `time` is any text that sorts among canonical times. */
async function countUpTo(reads: OwnerReads, time: string): Promise<CountUpTo> {
  const [{ next_seq, last_created_at }, indexed] = await Promise.all([columnsHead(reads), lastIndexed(reads, time)]);
  if (last_created_at === null || last_created_at <= time) return known(next_seq);
  const least = indexed === undefined ? 0 : indexed + 1;
  // The row at `most` was created later: it has the next entry, or is the last of all.
  const most = Math.min((indexed ?? 0) + reads.list.rowsPerTimeEntry, next_seq - 1);
  const sequence = Array.from({ length: most - least + 1 }, (_, at) => least + at);
  return {
    least,
    most,
    async exact() {
      const rows = await rowsAt(reads, sequence, { ids: undefined, inKeyOrder: false });
      const later = rows.findIndex(({ created_at }) => String(created_at) > time);
      if (later < 0) throw new StaleRead('The time index lacks an entry.');
      return least + later;
    },
  };
}

/** The last row up to the time that has an entry. */
async function lastIndexed(reads: OwnerReads, time: string): Promise<number | undefined> {
  const prefix = timeIndexPrefix(reads.list);
  const [entry] = await queryLast(reads.db, keysBetween(reads, prefix, prefix + time), 1);
  return entry && rowOfTimeEntry(entry);
}
