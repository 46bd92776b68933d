/** What all reads of one request for one owner share. */

import { type ChangedRows, changedRowsOf, changesPrefix } from '../columns/changes.ts';
import { blockKey } from '../columns/column-items.ts';
import { headKey, headOf, requireFormat, type StoredHead } from '../columns/head.ts';
import type { Column, ListDescription } from '../columns/list-description.ts';
import type { Db } from '../dynamodb/db.ts';
import { type Item, type KeyRange, queryAll } from '../dynamodb/reads.ts';
import { StaleRead } from './join-blocks.ts';

/** The tables that reads of a list name: its own table, and the columns. */
export type TablesOfList<List extends ListDescription> = 'Columns' | List['table'];

/** The list and the owner whose rows are read, and how they are read. */
export interface OwnerReads {
  readonly db: Db<'Batches' | 'Jobs' | 'Columns'>;
  readonly list: ListDescription;
  readonly userId: string;
  /** Strongly consistent reads, at double the price. */
  readonly consistent: boolean;
  /** On the clock's `elapsed`. */
  readonly start: number;
  /** What readHead has read, and columnsHead has made of it. */
  readonly kept: { head?: Promise<HeadAndItems>; withChanges?: Promise<ListHead> };
  /** Blocks of ids that were read before their rows were known, by their numbers. */
  readonly idBlocks: Map<number, Item>;
}
export function ownerReads<List extends ListDescription>(
  db: Db<TablesOfList<List>>,
  { list, userId, consistent }: { readonly list: List; readonly userId: string; readonly consistent: boolean },
): OwnerReads {
  // No read of this list names another table.
  return {
    db: db as OwnerReads['db'],
    ...{ list, userId, consistent, start: db.clock.elapsed(), kept: {}, idBlocks: new Map() },
  };
}

/** The head, and the items of changes beside it. */
interface HeadAndItems extends StoredHead {
  readonly changeItems: readonly Item[];
  /** Read so late that blocks may be older than changes that are gone. */
  readonly isLate: boolean;
}

/** The head, and the rows whose values it and the blocks may not have yet. */
export interface ListHead extends StoredHead {
  readonly changes: ChangedRows;
}

/**
 * What is folded stays for longer (fold-changes.ts): so a block that was read before the changes
 * were, or by a copy of the database that lags, is never older than changes that are gone.
 */
const maxMilliseconds = 4_000;

/**
 * The head, of whatever format. Read once: one head judges all that is read with it. One query
 * reads changes, and then the head.
 */
export function readHead(reads: OwnerReads): Promise<HeadAndItems> {
  const { db, list, kept, start } = reads;
  const { attributes: _, ...range } = keysBetween(reads, changesPrefix(list), headKey(list));
  kept.head ??= queryAll(db, range).then((items) => {
    const isHead = ({ key }: Item) => key === headKey(list);
    const changeItems = items.filter((item) => !isHead(item));
    // A fold deletes no items unless others stay: where there are none, none are gone.
    const isLate = changeItems.length > 0 && db.clock.elapsed() - start > maxMilliseconds;
    return { ...headOf(list, items.find(isHead)), changeItems, isLate };
  });
  return kept.head;
}

/**
 * The head for reading columns or sets with it, and all changes that may not be in columns yet.
 * Throws OutdatedColumns when they are of another format; StaleRead when the query took too long to
 * judge other reads.
 */
export function columnsHead(reads: OwnerReads): Promise<ListHead> {
  reads.kept.withChanges ??= headWithChanges(reads);
  return reads.kept.withChanges;
}

async function headWithChanges(reads: OwnerReads): Promise<ListHead> {
  const { list } = reads;
  const { changeItems, isLate, ...head } = await readHead(reads);
  requireFormat(list, head);
  if (isLate) throw new StaleRead('Changes were read too late.');
  // Rows that were created and changed after the head was read by a copy that lags.
  const rows = changeItems.flatMap((item) => [...changedRowsOf(list, item)]).filter(([seq]) => seq < head.next_seq);
  return { ...head, changes: new Map(rows) };
}

export function columnNamed({ list }: Pick<OwnerReads, 'list'>, name: string): Column {
  const column = list.columns[name];
  if (column === undefined) throw new RangeError(`The list has no column ${name}.`);
  return column;
}

export const maxBlockNumber = 9_999_999;

/** Without the owner, who is known: that need not be sent and parsed with thousands of blocks. */
export const blockAttributes = ['key', 'v'];

/** The blocks with these numbers, both inclusive. */
export function blockRange(reads: OwnerReads, prefix: string, from = 0, to = maxBlockNumber): KeyRange<'Columns'> {
  return keysBetween(reads, blockKey(prefix, from), blockKey(prefix, to));
}

/** The items of columns with these keys, both inclusive. */
export function keysBetween(reads: OwnerReads, from: string, to: string): KeyRange<'Columns'> {
  return {
    table: 'Columns',
    partition: { user_id: reads.userId },
    sortKey: 'key',
    range: { between: [from, to] },
    attributes: blockAttributes,
    consistent: reads.consistent,
  };
}
