/** From the blocks of a read to columns, with the check that none is missing. */

import { CorruptData } from '../../errors.ts';
import type { Column } from '../columns/list-description.ts';
import { unpackIntegers } from '../columns/packed-integers.ts';
import { uuidCount } from '../columns/packed-uuids.ts';
import type { ColumnData } from './matching-rows.ts';
import type { Span } from './span.ts';

/**
 * Reads contradict each other because a write came between them or an index lags. Reading again
 * helps.
 */
export class StaleRead extends Error {}

/** The values of a column, one for each row: numbers, with NaN for null, or UUIDs of 16 bytes. */
export type ColumnValues = Float64Array | Buffer;

/** Where a column ends in blocks and goes on in the head, and which part of it is needed. */
export interface ColumnExtent {
  /** The first row whose value is in the tail, not in a block. */
  readonly tailStart: number;
  /** The column's part of the tail, if there is any. */
  readonly tail: Uint8Array | undefined;
  /** Only the values of these rows need to be there. */
  readonly wanted: Span;
}

/** Room for the values of this number of rows. */
export function emptyColumn(column: Column, rowCount: number): ColumnValues {
  return column.kind === 'uuid' ? Buffer.alloc(rowCount * 16) : new Float64Array(rowCount);
}

/** The numbers of the blocks that hold these rows. */
export function* blocksWith({ rowsPerBlock }: Column, { from, to }: Span): Generator<number> {
  if (from > to) return;
  for (let number = Math.floor(from / rowsPerBlock); number * rowsPerBlock <= to; number++) yield number;
}

/**
 * Fills in the values of the wanted rows from the column's blocks, by their numbers, and its part
 * of the tail. Blocks may also hold values of rows from `tailStart` on: these are newer than the
 * head, and left out.
 *
 * Throws StaleRead when a block with a wanted row is missing or too short: then it was read before
 * the head was.
 */
export function fillColumn(
  values: ColumnValues,
  column: Column,
  blocks: ReadonlyMap<number, Uint8Array>,
  { tailStart, tail, wanted }: ColumnExtent,
): void {
  const { rowsPerBlock } = column;
  const inBlocks = (
    column.kind === 'uuid' ? values.subarray(0, tailStart * 16) : values.subarray(0, tailStart)
  ) as ColumnValues;
  const last = Math.min(wanted.to, tailStart - 1);
  for (const number of blocksWith(column, { from: wanted.from, to: last })) {
    const block = blocks.get(number);
    if (block === undefined) throw new StaleRead('A block of a column is missing.');
    const start = number * rowsPerBlock;
    const end = start + writeBlock(block, inBlocks, start);
    if (end <= Math.min(start + rowsPerBlock - 1, last)) throw new StaleRead('A column ends before its last row.');
  }
  if (wanted.to < tailStart) return;
  const rowsInTail = tail === undefined ? 0 : writeBlock(tail, values, tailStart);
  if (tailStart + rowsInTail <= wanted.to)
    throw new CorruptData(`The tail of the column ${column.key} is too short: npm run repair -- --fix writes it anew.`);
}

/**
 * Writes a block's values from row `start` on, as far as the column reaches. Returns how many
 * values the block has.
 */
function writeBlock(block: Uint8Array, values: ColumnValues, start: number): number {
  if (values instanceof Float64Array) return unpackIntegers(block, values, start);
  values.set(block.subarray(0, values.length - start * 16), start * 16);
  return uuidCount(block);
}

/** Columns of numbers apart from columns of UUIDs, by name. */
export function splitByKind(
  columns: readonly (readonly [name: string, values: ColumnValues])[],
): Pick<ColumnData, 'numbers' | 'uuids'> {
  return {
    numbers: new Map(columns.flatMap(([name, values]) => (values instanceof Float64Array ? [[name, values]] : []))),
    uuids: new Map(columns.flatMap(([name, values]) => (Buffer.isBuffer(values) ? [[name, values]] : []))),
  };
}
