/**
 * Changes of rows. A change does not touch the head or a block: it is put beside the head, in an
 * item that no other worker writes, and holds instead of what head and blocks say of the row. So
 * workers of one owner do not get in each other's way. A consumer folds changes into the head and
 * the blocks from time to time (lists/fold-changes.ts).
 *
 * An item holds the changed rows of one group: a batch alone, or up to 16 jobs of one batch. Its
 * key comes before that of the head, so that one query reads changes before what they may have been
 * folded into. Attributes:
 * - `r` and the row's number: all the row's values but UUIDs;
 * - `t`: a token that is different after each change of the item;
 * - `format`: of the head.
 *
 * Part of the stored format: what is written today must be read by every later release.
 */

import { randomBytes } from 'node:crypto';
import { CorruptData } from '../../errors.ts';
import { blockKey, columnValue, type Row, setValues } from './column-items.ts';
import type { Dictionaries } from './facets.ts';
import { formatOf } from './head.ts';
import type { Column, ListDescription } from './list-description.ts';
import { numberReader, writeNumber } from './whole-numbers.ts';

/** A row's values by the keys of their columns, without UUIDs: these never change. */
export type RowValues = ReadonlyMap<string, number | null>;

/** By the rows' numbers. */
export type ChangedRows = ReadonlyMap<number, RowValues>;

/** With more rows, an item would not stay below a write unit. */
const rowsInGroup = 16;

export function changesPrefix(list: ListDescription): string {
  return `${foldKey(list)}#`;
}

/**
 * What was folded last: the key comes before the keys of all changes. No key of a column lies
 * between them and the head.
 */
export function foldKey(list: ListDescription): string {
  return `${list.key}#hc`;
}

/** The key of the item for a row's changes. */
function changesKey(list: ListDescription, row: Row): string {
  const group = Object.values(list.sets).find(({ numberedBy }) => numberedBy !== undefined);
  if (group?.numberedBy === undefined) return blockKey(changesPrefix(list), row.seq);
  const { attribute } = list.columns[group.numberedBy] as Column & { kind: 'integer' };
  const [value = ''] = setValues(group, row);
  return blockKey(`${changesPrefix(list)}${value}#`, Math.floor(Number(row[attribute]) / rowsInGroup));
}

/** Attributes that an item gets. Its others stay. */
export type ChangeItem = Readonly<Record<string, string | Uint8Array>>;

/** For `t`: no two are ever the same. */
export function changeToken(): string {
  return randomBytes(8).toString('base64url');
}

/** By the keys of their items, what changed rows put there, apart from `t`. */
export function changeItems(
  list: ListDescription,
  rows: readonly Row[],
  dictionaries: Dictionaries,
): Map<string, ChangeItem> {
  const items = new Map<string, ChangeItem>();
  for (const row of rows) {
    const key = changesKey(list, row);
    items.set(key, {
      format: formatOf(list),
      ...items.get(key),
      [`r${row.seq}`]: packValues(list, row, dictionaries),
    });
  }
  return items;
}

/** Whether the rows differ in what their columns hold. */
export function isChanged(
  list: ListDescription,
  { before, after, dictionaries }: { readonly before: Row; readonly after: Row; readonly dictionaries: Dictionaries },
): boolean {
  return changingColumns(list).some(
    (column) => columnValue(column, before, dictionaries) !== columnValue(column, after, dictionaries),
  );
}

/** Of each column, the value and one; 0 for none. */
function packValues(list: ListDescription, row: Row, dictionaries: Dictionaries): Uint8Array {
  const bytes: number[] = [];
  for (const column of changingColumns(list)) {
    const value = columnValue(column, row, dictionaries);
    writeNumber(bytes, value === null ? 0 : Number(value) + 1);
  }
  return Uint8Array.from(bytes);
}

/** The columns whose values a change may change, in the order of their keys. */
export function changingColumns(list: ListDescription): readonly Column[] {
  return Object.values<Column>(list.columns)
    .filter(({ kind }) => kind !== 'uuid')
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

/** Throws CorruptData for an item that is not of this format. */
export function changedRowsOf(list: ListDescription, item: Readonly<Record<string, unknown>>): ChangedRows {
  const rows = new Map<number, RowValues>();
  try {
    if (item.format !== formatOf(list)) throw new RangeError(`It is of the format ${item.format}.`);
    for (const [name, bytes] of Object.entries(item)) {
      if (!/^r\d+$/.test(name)) continue;
      const read = numberReader(bytes as Uint8Array);
      const values = changingColumns(list).map(({ key }) => {
        const value = read();
        return [key, value === 0 ? null : value - 1] as const;
      });
      rows.set(Number(name.slice(1)), new Map(values));
    }
    return rows;
  } catch (cause) {
    const message = `The changes ${String(item.key)} are corrupt: npm run repair -- --fix mends them.`;
    throw new CorruptData(message, { cause });
  }
}
