/** Keys and forms of the items of the Columns table: blocks of columns, blocks of position sets. */

import { createHash } from 'node:crypto';
import { CorruptData } from '../../errors.ts';
import { toMicroseconds } from '../../timestamp.ts';
import { type Dictionaries, facetCode } from './facets.ts';
import type { Column, ListDescription, PositionSets } from './list-description.ts';
import { packedCount, packIntegers, unpackIntegers } from './packed-integers.ts';
import { withUuid } from './packed-uuids.ts';
import { withPosition } from './position-set.ts';

export type Row = Readonly<Record<string, unknown>> & { readonly seq: number };

/** Key of the block of a column, or of a set when `prefix` is that of one of its values. */
export function blockKey(prefix: string, block: number): string {
  return prefix + String(block).padStart(7, '0');
}

export function columnPrefix(list: ListDescription, column: Column): string {
  return `${list.key}#${column.key}#`;
}

/** The value is hashed: a tag may be longer than a key may be, and may hold any character. */
export function setPrefix(list: ListDescription, sets: PositionSets, value: string): string {
  const digest = createHash('sha256').update(value).digest('base64url').slice(0, 22);
  return `${list.key}#${sets.key}#${digest}#`;
}

/** One change of one block; `apply` gets the block's bytes (undefined: there is no such item) and returns the new ones. */
export interface BlockEdit {
  readonly key: string;
  apply(block: Uint8Array | undefined): Uint8Array | undefined;
}

/** What changes in columns and sets when `before` (undefined: the row is new) becomes `after`. */
export function blockEdits(
  list: ListDescription,
  before: Row | undefined,
  after: Row,
  dictionaries: Dictionaries,
): BlockEdit[] {
  return [...columnEdits(list, before, after, dictionaries), ...setEdits(list, before, after)];
}

function* columnEdits(
  list: ListDescription,
  before: Row | undefined,
  after: Row,
  dictionaries: Dictionaries,
): Generator<BlockEdit> {
  for (const column of Object.values(list.columns)) {
    const value = columnValue(column, after, dictionaries);
    // An absent end of a time column reads as null: what has not started needs no entry.
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

function* setEdits(list: ListDescription, before: Row | undefined, after: Row): Generator<BlockEdit> {
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

/** What a column holds of a row: a number, null, or a canonical UUID. */
export function columnValue(column: Column, row: Row, dictionaries: Dictionaries): number | string | null {
  if (column.kind === 'facets') return facetCode(column, row, dictionaries);
  const value = row[column.attribute] ?? null;
  if (column.kind === 'time' && typeof value === 'string') return toMicroseconds(value);
  if (column.kind === 'uuid' && typeof value === 'string') return value;
  if (column.kind === 'integer' && typeof value === 'number') return value;
  if (column.kind === 'time' && value === null) return null;
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
