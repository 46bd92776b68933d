/** What all reads of one request for one owner share. */

import { blockKey } from '../columns/column-items.ts';
import { headKey, headOf, requireFormat, type StoredHead } from '../columns/head.ts';
import type { Column, ListDescription } from '../columns/list-description.ts';
import type { Db } from '../dynamodb/db.ts';
import { getItem, type Item, type KeyRange } from '../dynamodb/reads.ts';

/**
 * The tables that reads of a list name: its own table, the columns, and the batches for the number
 * of a batch's jobs.
 */
export type TablesOfList<List extends ListDescription> = 'Columns' | 'Batches' | List['table'];

/** The list and the owner whose rows are read, and how they are read. */
export interface OwnerReads {
  readonly db: Db<'Batches' | 'Jobs' | 'Columns'>;
  readonly list: ListDescription;
  readonly userId: string;
  /** Strongly consistent reads, at double the price. */
  readonly consistent: boolean;
  /** What readHead has read. */
  readonly kept: { head?: Promise<StoredHead> };
  /** Blocks of ids that were read before their rows were known, by their numbers. */
  readonly idBlocks: Map<number, Item>;
}
export function ownerReads<List extends ListDescription>(
  db: Db<TablesOfList<List>>,
  { list, userId, consistent }: { readonly list: List; readonly userId: string; readonly consistent: boolean },
): OwnerReads {
  // No read of this list names another table.
  return { db: db as OwnerReads['db'], list, userId, consistent, kept: {}, idBlocks: new Map() };
}

/** The head, of whatever format. Read once: one head judges all that is read with it. */
export function readHead({ db, list, userId, consistent, kept }: OwnerReads): Promise<StoredHead> {
  const key = { user_id: userId, key: headKey(list) };
  kept.head ??= getItem(db, { table: 'Columns', key, consistent }).then((item) => headOf(list, item));
  return kept.head;
}

/**
 * The head for reading columns or sets with it. Throws OutdatedColumns when they are of another
 * format.
 */
export async function columnsHead(reads: OwnerReads): Promise<StoredHead> {
  return requireFormat(reads.list, await readHead(reads));
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
