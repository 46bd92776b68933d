/**
 * The items of the Columns table beside the heads: blocks of columns and blocks of position sets,
 * their keys, and how a row changes them.
 *
 * Part of the stored format: what is written today must be read by every later release.
 */

import { createHash } from 'node:crypto';
import { CorruptData } from '../../errors.ts';
import { toMicroseconds } from '../../timestamp.ts';
import { type Dictionaries, facetCode } from './facets.ts';
import type { Column, ListDescription, PositionSets } from './list-description.ts';
import { packedCount, packIntegers, unpackIntegers } from './packed-integers.ts';
import { withUuid } from './packed-uuids.ts';
import { withPosition } from './position-set.ts';

export type Row = Readonly<Record<string, unknown>> & { readonly seq: number };

/** Key of a block: `prefix` is that of a column or of a set. */
export function blockKey(prefix: string, block: number): string {
  return prefix + String(block).padStart(7, '0');
}

export function columnPrefix(list: ListDescription, column: Column): string {
  return `${list.key}#${column.key}#`;
}

/**
 * The value is hashed because a tag may be longer than a key may be, and may hold any character.
 */
export function setPrefix(list: ListDescription, sets: PositionSets, value: string): string {
  const digest = createHash('sha256').update(value).digest('base64url').slice(0, 22);
  return `${list.key}#${sets.key}#${digest}#`;
}

/**
 * One change of one block. `apply` takes the block's bytes and returns the new ones; undefined
 * means that there is no such item.
 */
export interface BlockEdit {
  readonly key: string;
  apply(block: Uint8Array | undefined): Uint8Array | undefined;
}

export interface RowChange {
  /** Undefined: the row is new. */
  readonly before: Row | undefined;
  readonly after: Row;
}

/** What a change of a row changes in columns and sets. */
export function blockEdits(list: ListDescription, change: RowChange, dictionaries: Dictionaries): BlockEdit[] {
  return [...columnEdits(list, change, dictionaries), ...setEdits(list, change)];
}

function* columnEdits(
  list: ListDescription,
  { before, after }: RowChange,
  dictionaries: Dictionaries,
): Generator<BlockEdit> {
  for (const column of Object.values(list.columns)) {
    const value = columnValue(column, after, dictionaries);
    // Missing trailing values of a time column are null, so a row without the time needs no entry.
    const previous =
      before !== undefined ? columnValue(column, before, dictionaries) : column.kind === 'time' ? null : undefined;
    if (value === previous) continue;
    const index = after.seq % column.rowsPerBlock;
    yield {
      key: blockKey(columnPrefix(list, column), Math.floor(after.seq / column.rowsPerBlock)),
      apply: (block) => (typeof value === 'string' ? withUuid(block, index, value) : withInteger(block, index, value)),
    };
  }
}

function* setEdits(list: ListDescription, { before, after }: RowChange): Generator<BlockEdit> {
  for (const sets of Object.values(list.sets)) {
    const had = setValues(sets, before);
    const has = setValues(sets, after);
    for (const value of had.union(has)) {
      if (had.has(value) === has.has(value)) continue;
      yield {
        key: blockKey(setPrefix(list, sets, value), Math.floor(after.seq / sets.rowsPerBlock)),
        apply: (block) => withPosition(block, after.seq % sets.rowsPerBlock, has.has(value)),
      };
    }
  }
}

/**
 * The row's value in a column: a number, null, or a canonical UUID. Throws CorruptData where the
 * row has no such value.
 */
export function columnValue(column: Column, row: Row, dictionaries: Dictionaries): number | string | null {
  if (column.kind === 'facets') return facetCode(column, row, dictionaries);
  const value = row[column.attribute] ?? null;
  if (column.kind === 'time' && typeof value === 'string') return toMicroseconds(value);
  if (column.kind === 'uuid' && typeof value === 'string') return value;
  if (column.kind === 'integer' && typeof value === 'number') return value;
  if (column.kind !== 'uuid' && value === null) return null;
  throw new CorruptData(`A row has no valid ${column.attribute}.`);
}

/** The values under whose sets a row stands. */
export function setValues(sets: PositionSets, row: Row | undefined): Set<string> {
  const value = row?.[sets.attribute];
  return new Set(Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : []);
}

function withInteger(block: Uint8Array | undefined, index: number, value: number | null): Uint8Array {
  const values: (number | null)[] = block === undefined ? [] : integersOf(block);
  while (values.length <= index) values.push(null);
  values[index] = value;
  return packIntegers(values);
}

function integersOf(block: Uint8Array): (number | null)[] {
  const values = new Float64Array(packedCount(block));
  unpackIntegers(block, values);
  return Array.from(values, (value) => (Number.isNaN(value) ? null : value));
}
