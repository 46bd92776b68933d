/** What all reads of one request for one owner share. */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { TableNames } from '../../tables.ts';
import { blockKey } from '../columns/column-items.ts';
import { headKey, headOf, requireFormat, type StoredHead } from '../columns/head.ts';
import type { Column, ListDescription } from '../columns/list-description.ts';
import { getItem, type Item, type KeyRange } from '../dynamodb/reads.ts';

export interface ListSource {
  readonly client: DynamoDBDocumentClient;
  /**
   * A list reads its own table, the columns, and the table of its counters. A missing name is
   * reported when it is first used.
   */
  readonly tables: Partial<TableNames<'Batches' | 'Jobs' | 'Columns'>>;
  readonly list: ListDescription;
}

export interface OwnerReads extends ListSource {
  readonly userId: string;
  /** Strongly consistent reads, at double the price. */
  readonly consistent: boolean;
  /** The head, of whatever format. Read once: one head judges all that is read with it. */
  head(): Promise<StoredHead>;
  /** Blocks of ids that were read before their rows were known, by their numbers. */
  readonly idBlocks: Map<number, Item>;
}

export function ownerReads(source: ListSource, userId: string, consistent: boolean): OwnerReads {
  const { client, list } = source;
  let head: Promise<StoredHead> | undefined;
  return {
    ...source,
    userId,
    consistent,
    idBlocks: new Map(),
    head() {
      const key = { user_id: userId, key: headKey(list) };
      const table = tableNamed(source, 'Columns');
      head ??= getItem(client, { table, key, consistent }).then((item) => headOf(list, item));
      return head;
    },
  };
}

/**
 * The head for reading columns or sets with it. Throws OutdatedColumns when they are of another
 * format.
 */
export async function columnsHead(reads: OwnerReads): Promise<StoredHead> {
  return requireFormat(reads.list, await reads.head());
}

export function tableNamed({ tables }: ListSource, table: keyof ListSource['tables']): string {
  const name = tables[table];
  if (name === undefined) throw new RangeError(`The list reads ${table}, whose name it was not given.`);
  return name;
}

export function columnNamed({ list }: ListSource, name: string): Column {
  const column = list.columns[name];
  if (column === undefined) throw new RangeError(`The list has no column ${name}.`);
  return column;
}

export const maxBlockNumber = 9_999_999;

/** Without the owner, who is known: that need not be sent and parsed with thousands of blocks. */
export const blockAttributes = ['key', 'v'];

/** The blocks with these numbers, both inclusive. */
export function blockRange(reads: OwnerReads, prefix: string, from = 0, to = maxBlockNumber): KeyRange {
  return keysBetween(reads, blockKey(prefix, from), blockKey(prefix, to));
}

/** The items of columns with these keys, both inclusive. */
export function keysBetween(reads: OwnerReads, from: string, to: string): KeyRange {
  return {
    table: tableNamed(reads, 'Columns'),
    partition: { user_id: reads.userId },
    sortKey: 'key',
    range: { between: [from, to] },
    attributes: blockAttributes,
    consistent: reads.consistent,
  };
}
