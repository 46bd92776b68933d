/**
 * The items of the Columns table beside the heads: blocks of columns and blocks of position sets,
 * their keys, and how a row changes them.
 *
 * Part of the stored format: what is written today must be read by every later release.
 */

import { createHash } from 'node:crypto';
import { CorruptData } from '../../errors.ts';
import { toMicroseconds } from '../../values/timestamp.ts';
import { type Dictionaries, facetCode } from './facets.ts';
import type { Column, ListDescription, PositionSets } from './list-description.ts';
import { packedCount, packIntegers, unpackIntegers } from './packed-integers.ts';
import { packUuids, uuidAt, uuidCount } from './packed-uuids.ts';
import { withPosition } from './position-set.ts';

export type Row = Readonly<Record<string, unknown>> & { readonly seq: number };

/** Key of a block: `prefix` is that of a column or of a set. */
export function blockKey(prefix: string, block: number): string {
  return prefix + String(block).padStart(7, '0');
}

/** An item of the table: a block, or a summary of blocks. */
type StoredItem = Readonly<Record<string, unknown>>;

/** The number that ends the key. */
export function blockNumber({ key }: StoredItem): number {
  return Number(String(key).slice(-7));
}

/** Throws CorruptData when the item holds no bytes. */
export function blockBytes({ key, v }: StoredItem): Uint8Array {
  if (v instanceof Uint8Array) return v;
  throw new CorruptData(`The block ${String(key)} holds no bytes.`);
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
  /**
   * The key of the summary to delete in the same transaction where the block is sealed
   * (summary.ts).
   */
  readonly summary?: string;
  apply(block: Uint8Array | undefined): Uint8Array | undefined;
}

export interface RowChange {
  /** Undefined: the row is new. */
  readonly before: Row | undefined;
  readonly after: Row;
}

/** What a change of a row changes in sets. */
export function* setEdits(list: ListDescription, { before, after }: RowChange): Generator<BlockEdit> {
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

/** The edits, one a block, that put values into a column from row `start` on. */
export function* columnEdits(
  list: ListDescription,
  column: Column,
  start: number,
  values: readonly ColumnValue[],
): Generator<BlockEdit> {
  const { rowsPerBlock } = column;
  const end = start + values.length;
  for (let from = start; from < end; ) {
    const block = Math.floor(from / rowsPerBlock);
    const to = Math.min(end, (block + 1) * rowsPerBlock);
    const part = values.slice(from - start, to - start);
    const index = from % rowsPerBlock;
    yield {
      key: blockKey(columnPrefix(list, column), block),
      apply(bytes) {
        const before = bytes === undefined ? [] : unpackColumn(column, bytes);
        const rest = before.slice(index + part.length);
        return packColumn(column, [...padded(column, before.slice(0, index), index), ...part, ...rest]);
      },
    };
    from = to;
  }
}

/** At least `length` values; missing ones are nulls and zeros. */
function padded(column: Column, values: readonly ColumnValue[], length: number): ColumnValue[] {
  const filler = column.kind === 'uuid' ? '00000000-0000-0000-0000-000000000000' : null;
  return Array.from({ length: Math.max(length, values.length) }, (_, index) => values[index] ?? filler);
}

/** A row's value in a column: a number, null, or a canonical UUID. */
export type ColumnValue = number | string | null;

/** The bytes of a block, or of a column's part of the tail. */
export function packColumn(column: Column, values: readonly ColumnValue[]): Uint8Array {
  return column.kind === 'uuid' ? packUuids(values as string[]) : packIntegers(values as (number | null)[]);
}

export function unpackColumn(column: Column, bytes: Uint8Array): ColumnValue[] {
  if (column.kind === 'uuid') {
    const uuids = Buffer.from(bytes);
    return Array.from({ length: uuidCount(bytes) }, (_, index) => uuidAt(uuids, index));
  }
  const values = new Float64Array(packedCount(bytes));
  unpackIntegers(bytes, values);
  return Array.from(values, (value) => (Number.isNaN(value) ? null : value));
}

/** The row's value in a column. Throws CorruptData where the row has no such value. */
export function columnValue(column: Column, row: Row, dictionaries: Dictionaries): ColumnValue {
  if (column.kind === 'facets') return facetCode(column, row, dictionaries);
  const value = row[column.attribute] ?? null;
  if (column.kind === 'time' && typeof value === 'string') return toMicroseconds(value);
  if (column.kind === 'uuid' && typeof value === 'string') return value;
  if (column.kind === 'integer' && typeof value === 'number') return value;
  if (column.kind !== 'uuid' && value === null) return null;
  throw new CorruptData(`A row has no valid ${column.attribute}.`);
}

/** The values whose sets hold the row. */
export function setValues(sets: PositionSets, row: Row | undefined): Set<string> {
  const value = row?.[sets.attribute];
  return new Set(Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : []);
}
