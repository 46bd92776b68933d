/** From columns to the page: which rows match, how many they are, and which of them are on the page. Pure. */

import { indexOfFacet } from '../columns/facets.ts';
import type { FacetColumn, ListDescription } from '../columns/list-description.ts';
import {
  type ColumnData,
  facetColumn,
  facetValues,
  highBits,
  matchingRows,
  numbersOf,
  tabulate,
  uuidsOf,
} from './matching-rows.ts';
import type { ListQuery } from './query.ts';

/**
 * Sequence numbers of the page's rows in the order of the query, and the exact number of all rows
 * that match.
 */
export interface Selection {
  readonly sequence: readonly number[];
  readonly total: number;
}

export function select(list: ListDescription, query: ListQuery, data: ColumnData): Selection {
  const matching = matchingRows(list, query.conditions, data);
  const { direction, offset, limit } = query;
  const window = { direction, from: offset, to: Math.min(offset + limit, matching.length) };
  const key = sortKey(list, query, data);
  return { sequence: cutPage(matching, key, window), total: matching.length };
}

/** Rows ascend by these values and, where they are equal, by `compare`; then by sequence number. */
interface SortKey {
  /** The values of these rows, with NaN for null. */
  valuesOf(rows: Int32Array): Float64Array;
  /** Only where equal values leave a difference. */
  readonly compare?: (a: number, b: number) => number;
}

/** Undefined for creation order. */
function sortKey(list: ListDescription, query: ListQuery, data: ColumnData): SortKey | undefined {
  const { order } = query;
  if (order.kind === 'creation') return undefined;
  if (order.kind === 'facet') return facetSortKey(facetColumn(list), order.facet, data);
  if (list.columns[order.column]?.kind === 'uuid') {
    const uuids = uuidsOf(data, order.column);
    return {
      valuesOf: (rows) => mapRows(rows, (row) => highBits(uuids, row)),
      compare: (a, b) => uuids.compare(uuids, b * 16, b * 16 + 16, a * 16, a * 16 + 16),
    };
  }
  const values = numbersOf(data, order.column);
  return { valuesOf: (rows) => mapRows(rows, (row) => values[row] as number) };
}

/** Known values sort as the description lists them, those of a dictionary as texts. */
function facetSortKey(column: FacetColumn, name: string, data: ColumnData): SortKey {
  const codes = numbersOf(data, 'facets');
  const index = indexOfFacet(column, name);
  const texts = facetValues(column, name, data.dictionaries);
  const isDictionary = column.facets[name]?.kind === 'dictionary';
  const sorted = isDictionary ? texts.toSorted((a, b) => (a < b ? -1 : 1)) : texts;
  const rankOfText = new Map(sorted.map((text, rank) => [text, rank]));
  const rankOf = tabulate(column, data.dictionaries, (code) => {
    const text = texts[index(code)];
    return text === undefined ? Number.NaN : (rankOfText.get(text) ?? Number.NaN);
  });
  return { valuesOf: (rows) => mapRows(rows, (row) => rankOf(codes[row] as number)) };
}

/** Several times as fast as Float64Array.from. */
function mapRows(rows: Int32Array, value: (row: number) => number): Float64Array {
  const values = new Float64Array(rows.length);
  for (let index = 0; index < rows.length; index++) values[index] = value(rows[index] as number);
  return values;
}

/** Ranks from `from` on, up to `to` and without it. */
interface Window {
  readonly from: number;
  readonly to: number;
}

/** Ranks in this direction. */
interface DirectedWindow extends Window {
  readonly direction: ListQuery['direction'];
}

/** The rows of the window in the order of the key. `matching` ascends, as creation order does. */
function cutPage(matching: Int32Array, key: SortKey | undefined, window: DirectedWindow): number[] {
  if (key === undefined) return cutSection(matching.length, window, (part) => sliceRows(matching, part));
  const { valued, nulls } = splitNulls(matching, key.valuesOf(matching));
  const count = valued.rows.length;
  const [ofValued, ofNulls] = [clip(window, 0, count), clip(window, count, nulls.length)];
  return [
    ...cutSection(count, ofValued, (part) => rowsAtRanks(valued, key, part)),
    ...cutSection(nulls.length, ofNulls, (part) => sliceRows(nulls, part)),
  ];
}

/** Rows, ascending, and the value of each. */
interface ValuedRows {
  readonly rows: Int32Array;
  readonly values: Float64Array;
}

function splitNulls(rows: Int32Array, values: Float64Array): { valued: ValuedRows; nulls: Int32Array } {
  let count = 0;
  for (let index = 0; index < values.length; index++) if (!Number.isNaN(values[index])) count++;
  if (count === rows.length) return { valued: { rows, values }, nulls: rows.subarray(0, 0) };
  const valued = { rows: new Int32Array(count), values: new Float64Array(count) };
  const nulls = new Int32Array(rows.length - count);
  for (let index = 0, found = 0; index < rows.length; index++) {
    const row = rows[index] as number;
    const value = values[index] as number;
    if (Number.isNaN(value)) nulls[index - found] = row;
    else {
      valued.rows[found] = row;
      valued.values[found++] = value;
    }
  }
  return { valued, nulls };
}

/** The window's part within a section of `length` rows that starts at rank `start`, counted from there. */
function clip(window: DirectedWindow, start: number, length: number): DirectedWindow {
  const clamp = (rank: number) => Math.min(Math.max(rank - start, 0), length);
  return { direction: window.direction, from: clamp(window.from), to: clamp(window.to) };
}

/** A descending window is an ascending one counted from the end, reversed: ties reverse with it. */
function cutSection(
  length: number,
  { direction, from, to }: DirectedWindow,
  cutAscending: (window: Window) => number[],
): number[] {
  if (from >= to) return [];
  if (direction === 'ASC') return cutAscending({ from, to });
  return cutAscending({ from: length - to, to: length - from }).reverse();
}

function sliceRows(rows: Int32Array, { from, to }: Window): number[] {
  return Array.from(rows.subarray(from, to));
}

const bucketCount = 1024;
/** So few rows are sorted rather than counted once more. */
const fewRows = 1024;

/**
 * The rows whose ranks in ascending order lie in the window. The values are counted into equal
 * intervals (buckets), and the counts say in which buckets the window begins and ends. With a
 * window from 6 to 14:
 *
 *   bucket        0     1    2     3      4
 *   rows in it    5     0    3     4      6
 *   their ranks  0..4   -   5..7  8..11  12..17
 *   window                   [............]
 *
 * Here fromBucket is 2, with 5 rowsBefore; toBucket is 4, with 12 rowsBeforeLast.
 *
 * All rows of the buckets between these two are in the window and are sorted. Within the two the
 * same is done again, on fewer rows. The work is linear in the number of rows, whatever their
 * values, except that ids which begin alike are all sorted.
 */
function rowsAtRanks(valued: ValuedRows, key: SortKey, { from, to }: Window): number[] {
  const { rows, values } = valued;
  const { compare } = key;
  const [least, most] = bounds(values);
  if (least === most && compare === undefined) return sliceRows(rows, { from, to });
  if (least === most || rows.length <= fewRows) return sortRows(valued, compare).slice(from, to);
  const buckets = bucketsOf(values, least, most);
  const counts = new Uint32Array(bucketCount);
  for (let index = 0; index < buckets.length; index++) (counts[buckets[index] as number] as number) += 1;
  const countIn = (bucket: number) => counts[bucket] as number;

  let [fromBucket, rowsBefore] = [0, 0];
  while (rowsBefore + countIn(fromBucket) <= from) rowsBefore += countIn(fromBucket++);
  let [toBucket, rowsBeforeLast] = [fromBucket, rowsBefore];
  while (rowsBeforeLast + countIn(toBucket) < to) rowsBeforeLast += countIn(toBucket++);

  const within = (bucket: number, part: Window) => {
    const ofBucket = pickBuckets(valued, buckets, { first: bucket, last: bucket, length: countIn(bucket) });
    return rowsAtRanks(ofBucket, key, part);
  };
  if (fromBucket === toBucket) return within(fromBucket, { from: from - rowsBefore, to: to - rowsBefore });
  const length = rowsBeforeLast - rowsBefore - countIn(fromBucket);
  const between = pickBuckets(valued, buckets, { first: fromBucket + 1, last: toBucket - 1, length });
  return [
    ...within(fromBucket, { from: from - rowsBefore, to: countIn(fromBucket) }),
    ...sortRows(between, compare),
    ...within(toBucket, { from: 0, to: to - rowsBeforeLast }),
  ];
}

/** Least and greatest of at least one value. */
function bounds(values: Float64Array): [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as number;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return [least, most];
}

function bucketsOf(values: Float64Array, least: number, most: number): Uint16Array {
  const buckets = new Uint16Array(values.length);
  const scale = bucketCount / (most - least);
  for (let index = 0; index < values.length; index++) {
    const bucket = Math.floor(((values[index] as number) - least) * scale);
    buckets[index] = bucket < bucketCount ? bucket : bucketCount - 1;
  }
  return buckets;
}

/** The rows in these buckets, both inclusive; `length` is their number. */
function pickBuckets(
  { rows, values }: ValuedRows,
  buckets: Uint16Array,
  { first, last, length }: { readonly first: number; readonly last: number; readonly length: number },
): ValuedRows {
  const picked = { rows: new Int32Array(length), values: new Float64Array(length) };
  for (let index = 0, count = 0; count < length; index++) {
    const bucket = buckets[index] as number;
    if (bucket < first || bucket > last) continue;
    picked.rows[count] = rows[index] as number;
    picked.values[count++] = values[index] as number;
  }
  return picked;
}

/** Ties stay ascending, because the sort is stable. */
function sortRows({ rows, values }: ValuedRows, compare: SortKey['compare']): number[] {
  return Array.from(rows, (row, index) => ({ row, value: values[index] as number }))
    .sort((a, b) => a.value - b.value || (compare?.(a.row, b.row) ?? 0))
    .map(({ row }) => row);
}
