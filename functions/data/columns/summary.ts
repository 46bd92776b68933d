/**
 * Summaries: what a query needs to know of many old rows without reading their values. The rows are cut into stretches; for each
 * stretch and column of numbers there may be one summary item.
 *
 * The rule that makes a summary right whenever it is there: it is written in one transaction that seals every block of the stretch,
 * conditional on the bytes it was made from; and whoever changes a block that is sealed deletes the summary in the same transaction.
 * So a summary says what the blocks say. It may be missing at any time: then the blocks are read.
 *
 * Part of the stored format: what is written today must be read by every later release.
 */

import { blockKey, columnPrefix } from './column-items.ts';
import type { Column, ListDescription } from './list-description.ts';
import { packedCount, packedLengthOf, packIntegers, unpackIntegers } from './packed-integers.ts';

/** So many rows have values from `low` to `high`, both inclusive; null: no value. */
export interface Cell {
  readonly low: number | null;
  readonly high: number | null;
  readonly count: number;
}

/** With more different values a summary would cost as much to read as the values themselves. */
const mostCells = 1_024;

/**
 * The cells of a stretch's values (NaN for null), ascending, those of null last; together they count each row once. Times have one
 * cell from the least to the greatest; other numbers one for each different value, or one for all where these are too many.
 */
export function summarize({ kind }: Column, values: Float64Array): Cell[] {
  const counts = new Map<number, number>();
  let nulls = 0;
  for (const value of values) {
    if (Number.isNaN(value)) nulls++;
    else counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const cells = Array.from(counts, ([value, count]): Cell => ({ low: value, high: value, count }));
  cells.sort((a, b) => Number(a.low) - Number(b.low));
  const valued = kind === 'time' || cells.length > mostCells ? join(cells) : cells;
  return nulls === 0 ? valued : [...valued, { low: null, high: null, count: nulls }];
}

function join(cells: readonly Cell[]): Cell[] {
  const [first, last] = [cells.at(0), cells.at(-1)];
  if (first === undefined || last === undefined) return [];
  return [{ low: first.low, high: last.high, count: cells.reduce((sum, { count }) => sum + count, 0) }];
}

/** Three blocks of packed integers behind each other: where the cells begin, how far they reach from there, what they count. */
export function packSummary(cells: readonly Cell[]): Uint8Array {
  return Buffer.concat([
    packIntegers(cells.map(({ low }) => low)),
    packIntegers(cells.map(({ low, high }) => (low === null || high === null ? null : high - low))),
    packIntegers(cells.map(({ count }) => count)),
  ]);
}

/** Throws RangeError for bytes that are no summary. */
export function unpackSummary(bytes: Uint8Array): Cell[] {
  const parts: Float64Array[] = [];
  for (let rest = bytes; parts.length < 3; rest = rest.subarray(packedLengthOf(rest))) {
    const part = new Float64Array(packedCount(rest));
    unpackIntegers(rest, part);
    parts.push(part);
  }
  const [lows, reaches, counts] = parts as [Float64Array, Float64Array, Float64Array];
  return Array.from(lows, (low, at) => {
    const count = counts[at] as number;
    return Number.isNaN(low) ? { low: null, high: null, count } : { low, high: low + (reaches[at] as number), count };
  });
}

/** Whether the column has summaries: every column of numbers has. */
export function isSummarized({ kind }: Column): boolean {
  return kind !== 'uuid';
}

/** Begins the keys of a column's summaries, apart from those of its blocks, which go on with a digit. */
export function summaryPrefix(list: ListDescription, column: Column): string {
  return `${columnPrefix(list, column)}s#`;
}

export function summaryKey(list: ListDescription, column: Column, stretch: number): string {
  return blockKey(summaryPrefix(list, column), stretch);
}

/** The stretch of a block of the column. */
export function stretchOfBlock(list: ListDescription, column: Column, block: number): number {
  return Math.floor((block * column.rowsPerBlock) / list.rowsPerStretch);
}

/**
 * How many stretches, from the oldest on, may be sealed, with so many rows in blocks: those with half a stretch of rows behind them.
 * Newer rows change too often.
 */
export function sealableStretches({ rowsPerStretch }: ListDescription, rowsInBlocks: number): number {
  return Math.max(0, Math.floor((rowsInBlocks - rowsPerStretch / 2) / rowsPerStretch));
}
