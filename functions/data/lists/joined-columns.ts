/** From the items of a read to whole columns, and the check that none is missing. */

import { CorruptData } from '../../errors.ts';
import type { Column } from '../columns/list-description.ts';
import { unpackIntegers } from '../columns/packed-integers.ts';
import { uuidCount } from '../columns/packed-uuids.ts';
import type { Item } from '../dynamodb/reads.ts';
import type { ColumnData } from './select.ts';

/** Reads disagree with each other, because a write passed between them or an index lags: read again. */
export class StaleRead extends Error {}

/** Rows from one sequence number to another, both inclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * A column of `rowCount` rows from its blocks in key order: numbers with NaN for null, or UUIDs. Throws StaleRead unless every block
 * up to the last `wanted` row is there and full; but an absent end of a time column is null.
 */
export function joinedColumn(
  column: Column,
  blocks: readonly Item[],
  rowCount: number,
  wanted: Span,
): Float64Array | Buffer {
  const isUuid = column.kind === 'uuid';
  const joined = isUuid ? Buffer.alloc(rowCount * 16) : new Float64Array(rowCount).fill(Number.NaN);
  let reached = Math.floor(wanted.from / column.rowsPerBlock) * column.rowsPerBlock;
  for (const block of blocks) {
    const start = blockNumber(block) * column.rowsPerBlock;
    if (start >= rowCount) continue;
    if (start !== reached && column.kind !== 'time') throw new StaleRead();
    reached = start + write(bytesOf(block), joined, start);
  }
  if (reached <= wanted.to && column.kind !== 'time') throw new StaleRead();
  return joined;
}

/** Writes a block's values from row `start` on, as far as the column reaches; returns how many the block has. */
function write(block: Uint8Array, column: Float64Array | Buffer, start: number): number {
  if (column instanceof Float64Array) return unpackIntegers(block, column, start);
  column.set(block.subarray(0, column.length - start * 16), start * 16);
  return uuidCount(block);
}

/** Columns of numbers and columns of ids, by name. */
export function byKind(
  values: readonly (readonly [string, Float64Array | Buffer])[],
): Pick<ColumnData, 'numbers' | 'uuids'> {
  return {
    numbers: new Map(values.flatMap(([name, value]) => (value instanceof Float64Array ? [[name, value]] : []))),
    uuids: new Map(values.flatMap(([name, value]) => (Buffer.isBuffer(value) ? [[name, value]] : []))),
  };
}

/** The number that ends a block's key. */
export function blockNumber(item: Item): number {
  return Number(String(item.key).slice(-7));
}

export function bytesOf(item: Item): Uint8Array {
  if (item.v instanceof Uint8Array) return item.v;
  throw new CorruptData('A block holds no bytes.');
}
