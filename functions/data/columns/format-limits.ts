/**
 * Relations between the numbers of a description on which correctness and costs rest. Synthesis
 * checks them, and a unit test (stored-format.test.ts): at each cold start they would cost a
 * quarter of it.
 */

import { blockKey, columnPrefix, packColumn } from './column-items.ts';
import { facetSize } from './facets.ts';
import type { Column, FacetColumn, ListDescription } from './list-description.ts';
import { isSummarized } from './summary.ts';

/** A write unit: DynamoDB counts names and values. */
const maxItemBytes = 1_024;

/** A transaction has at most 100 items: the blocks of a segment and their summary. */
const maxBlocksInSegment = 99;

/**
 * A query computes what it needs of a facet code once, in a table of up to this number of codes
 * (see `tabulate`). Larger codes are computed for each row, which is six times as slow.
 */
export const maxTabulatedCodes = 2 ** 22;

/** Throws RangeError with what to do. */
export function requireFormatLimits(list: ListDescription): void {
  for (const [name, column] of Object.entries(list.columns)) {
    const of = `The column ${name} of ${list.table}`;
    if (column.kind === 'facets') requireFacetCodes(of, column);
    const bytes = largestBlockBytes(list, column);
    if (bytes > maxItemBytes)
      throw new RangeError(`${of} has blocks of ${bytes} bytes: at most ${maxItemBytes}. ${adviceFor(list, column)}`);
    if (!isSummarized(column)) continue;
    if (list.rowsPerSegment % column.rowsPerBlock > 0)
      throw new RangeError(
        `${of} has blocks that belong to two segments of ${list.rowsPerSegment} rows. ${adviceFor(list, column)}`,
      );
    if (list.rowsPerSegment / column.rowsPerBlock > maxBlocksInSegment)
      throw new RangeError(`${of} has more than ${maxBlocksInSegment} blocks a segment: lower rowsPerSegment.`);
  }
}

function requireFacetCodes(of: string, { facets }: FacetColumn): void {
  const all = Object.values(facets);
  const firstDictionary = all.findIndex(({ kind }) => kind === 'dictionary');
  const fixed = all.filter(({ kind }) => kind !== 'dictionary');
  if (firstDictionary >= 0 && firstDictionary < fixed.length)
    throw new RangeError(`${of} has a dictionary before other facets: put facets of fixed values before dictionaries.`);
  const sizeUpTo = (count: number) => all.slice(0, count).reduce((size, facet) => size * facetSize(facet), 1);
  const tabulated = sizeUpTo(fixed.length + 1);
  if (tabulated > maxTabulatedCodes)
    throw new RangeError(
      `${of} has ${tabulated} codes up to its first dictionary, at most ${maxTabulatedCodes} are tabulated: give a facet fewer values, or a column of its own.`,
    );
  if (sizeUpTo(all.length) >= 2 ** 53) throw new RangeError(`${of} has codes from 2^53 on, which are not exact.`);
}

/** The bytes of the largest block there can be: with a key, for an owner named by a UUID. */
function largestBlockBytes(list: ListDescription, column: Column): number {
  const { length } = packColumn(
    column,
    Array.from({ length: column.rowsPerBlock }, (_, at) => extreme(column, at)),
  );
  const key = blockKey(columnPrefix(list, column), 0);
  return 'user_id'.length + 36 + 'key'.length + key.length + 'v'.length + length;
}

/** Every code, times of 35 years, numbers up to 268 million. */
function extreme(column: Column, at: number): number | string {
  if (column.kind === 'uuid') return '00000000-0000-0000-0000-000000000000';
  // With 0 and 1 in it, a block has no common unit.
  if (at < 2) return at;
  if (column.kind === 'time') return 2 ** 50 - 1;
  if (column.kind === 'integer') return 2 ** 28 - 1;
  return Object.values(column.facets).reduce((size, facet) => size * facetSize(facet), 1) - 1;
}

/** Takes most of the time of a check: only for a fault. */
function adviceFor(list: ListDescription, column: Column): string {
  const fitting = fittingRows(list, column).join(', ');
  return `Set its rowsPerBlock in columns/lists.ts to ${fitting} or less, a divisor of rowsPerSegment.`;
}

/** The largest numbers of rows whose blocks fit and do not cross segments. */
function fittingRows(list: ListDescription, column: Column): number[] {
  return Array.from({ length: column.rowsPerBlock }, (_, at) => column.rowsPerBlock - at)
    .filter((rowsPerBlock) => list.rowsPerSegment % rowsPerBlock === 0)
    .filter((rowsPerBlock) => largestBlockBytes(list, { ...column, rowsPerBlock }) <= maxItemBytes)
    .slice(0, 3);
}
