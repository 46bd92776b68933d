/**
 * Summaries: what a query needs to know of many old rows without reading their values. The rows are
 * cut into segments; for each segment and column of numbers there may be one summary item.
 *
 * A summary agrees with its blocks whenever it is there, by this rule: one transaction writes it
 * and seals every block of the segment, conditional on the bytes it was made from. A change of a
 * sealed block deletes the summary in the same transaction. A summary may be missing at any time:
 * then the blocks are read.
 *
 * Part of the stored format: what is written today must be read by every later release.
 */

import { blockKey, columnPrefix } from './column-items.ts';
import type { Column, ListDescription } from './list-description.ts';
import { numberReader, writeNumber } from './whole-numbers.ts';

/** The number of rows with values from `low` to `high`, both inclusive; null: no value. */
export interface Cell {
  readonly low: number | null;
  readonly high: number | null;
  readonly count: number;
}

/** With more different values a summary would cost as much to read as the values themselves. */
const maxCells = 1_024;

/**
 * The cells of a segment's values (NaN for null), ascending, nulls last; together they count each
 * row once. Times have one cell from the least to the greatest; other numbers one for each
 * different value, or one for all where these are too many.
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
  const valued = kind === 'time' || cells.length > maxCells ? join(cells) : cells;
  return nulls === 0 ? valued : [...valued, { low: null, high: null, count: nulls }];
}

function join(cells: readonly Cell[]): Cell[] {
  const [first, last] = [cells.at(0), cells.at(-1)];
  if (first === undefined || last === undefined) return [];
  return [{ low: first.low, high: last.high, count: cells.reduce((sum, { count }) => sum + count, 0) }];
}

const kinds = { points: 1, spans: 2 } as const;

/**
 * Layout:
 * - 1 byte for the kind: points, where every cell has one value, or spans;
 * - then numbers (whole-numbers.ts): of cells that have values, of rows without one;
 * - for each of these cells the distance of `low` from the one before (from 0 for the first), for
 *   spans the distance of `high` from `low`, and the count.
 */
export function packSummary(cells: readonly Cell[]): Uint8Array {
  const valued = cells.filter((cell): cell is ValuedCell => cell.low !== null);
  const nulls = cells.find(({ low }) => low === null)?.count ?? 0;
  const kind = valued.every(({ low, high }) => low === high) ? kinds.points : kinds.spans;
  const bytes: number[] = [kind];
  let before = 0;
  writeNumber(bytes, valued.length);
  writeNumber(bytes, nulls);
  for (const { low, high, count } of valued) {
    writeNumber(bytes, low - before);
    if (kind === kinds.spans) writeNumber(bytes, high - low);
    writeNumber(bytes, count);
    before = low;
  }
  return Uint8Array.from(bytes);
}

type ValuedCell = Cell & { readonly low: number; readonly high: number };

/** Throws RangeError for bytes that are no summary. */
export function unpackSummary(bytes: Uint8Array): Cell[] {
  const kind = bytes[0];
  if (kind !== kinds.points && kind !== kinds.spans) throw new RangeError('A summary is of another format.');
  const readNumber = numberReader(bytes, 1);
  const [length, nulls] = [readNumber(), readNumber()];
  const cells: Cell[] = [];
  let low = 0;
  for (let cell = 0; cell < length; cell++) {
    low += readNumber();
    const high = kind === kinds.points ? low : low + readNumber();
    cells.push({ low, high, count: readNumber() });
  }
  if (nulls > 0) cells.push({ low: null, high: null, count: nulls });
  return cells;
}

/** Whether the column has summaries: every column of numbers has. */
export function isSummarized({ kind }: Column): boolean {
  return kind !== 'uuid';
}

/**
 * Begins the keys of a column's summaries, apart from its blocks, whose keys go on with a digit.
 */
export function summaryPrefix(list: ListDescription, column: Column): string {
  return `${columnPrefix(list, column)}s#`;
}

export function summaryKey(list: ListDescription, column: Column, segment: number): string {
  return blockKey(summaryPrefix(list, column), segment);
}

/** The keys of the column's blocks in a segment, ascending. */
export function blocksOfSegment(list: ListDescription, column: Column, segment: number): string[] {
  const length = list.rowsPerSegment / column.rowsPerBlock;
  return Array.from({ length }, (_, at) => blockKey(columnPrefix(list, column), segment * length + at));
}

/**
 * The number of segments, from the oldest on, that may be sealed with this number of rows in
 * blocks: a segment needs half a segment of rows behind it. Newer rows change too often.
 */
export function sealableSegments({ rowsPerSegment }: ListDescription, rowsInBlocks: number): number {
  return Math.max(0, Math.floor((rowsInBlocks - rowsPerSegment / 2) / rowsPerSegment));
}
