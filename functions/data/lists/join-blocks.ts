/** From the blocks of a read to whole columns, with the check that none is missing. */

import { CorruptData } from '../../errors.ts';
import type { Column } from '../columns/list-description.ts';
import { unpackIntegers } from '../columns/packed-integers.ts';
import { uuidCount } from '../columns/packed-uuids.ts';
import type { Item } from '../dynamodb/reads.ts';
import type { ColumnData } from './matching-rows.ts';

/** Reads contradict each other because a write came between them or an index lags. Reading again helps. */
export class StaleRead extends Error {}

/** Sequence numbers from one row to another, both inclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The values of a column, one for each row: numbers, with NaN for null, or UUIDs of 16 bytes. */
export type ColumnValues = Float64Array | Buffer;

/**
 * A column of `rowCount` rows from its blocks in key order. Only the rows within `wanted` need to
 * be there.
 *
 * Throws StaleRead when a block is missing, or is not full, before the last wanted row. A time
 * column may end early: its missing trailing values are null.
 */
export function joinBlocks(
  column: Column,
  blocks: readonly Item[],
  { rowCount, wanted }: { readonly rowCount: number; readonly wanted: Span },
): ColumnValues {
  const values = column.kind === 'uuid' ? Buffer.alloc(rowCount * 16) : new Float64Array(rowCount).fill(Number.NaN);
  let rowsJoined = Math.floor(wanted.from / column.rowsPerBlock) * column.rowsPerBlock;
  for (const block of blocks) {
    const start = blockNumber(block) * column.rowsPerBlock;
    if (start >= rowCount) continue;
    if (start !== rowsJoined && column.kind !== 'time') throw new StaleRead('A block of a column is missing.');
    rowsJoined = start + writeBlock(blockBytes(block), values, start);
  }
  if (rowsJoined <= wanted.to && column.kind !== 'time') throw new StaleRead('A column ends before its last row.');
  return values;
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

/** The number that ends a block's key. */
export function blockNumber(item: Item): number {
  return Number(String(item.key).slice(-7));
}

/** Throws CorruptData when the item holds no bytes. */
export function blockBytes(item: Item): Uint8Array {
  if (item.v instanceof Uint8Array) return item.v;
  throw new CorruptData(`The block ${String(item.key)} holds no bytes.`);
}
