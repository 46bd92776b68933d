/** From columns to the page: which rows match, how many they are, and which of them are on the page. Pure. */

import { CorruptData } from '../../errors.ts';
import { type Dictionaries, indexOfFacet } from '../columns/facets.ts';
import type { FacetColumn, ListDescription } from '../columns/list-description.ts';
import { uuidAt } from '../columns/packed-uuids.ts';
import type { Condition, ListQuery } from './query.ts';

/**
 * What was read for a query. Columns are at full length, with NaN for null. For each set condition
 * there are its rows, ascending.
 */
export interface ColumnData {
  readonly rowCount: number;
  readonly dictionaries: Dictionaries;
  readonly numbers: ReadonlyMap<string, Float64Array>;
  readonly uuids: ReadonlyMap<string, Buffer>;
  readonly sets: readonly (readonly number[])[];
}

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

/**
 * The rows that meet these conditions, ascending. Rows of sets that are newer than the columns are
 * left out.
 */
export function matchingRows(list: ListDescription, conditions: readonly Condition[], data: ColumnData): Int32Array {
  const tests = rowTests(list, conditions, data);
  const candidates = intersect(data.sets)?.filter((row) => row < data.rowCount);
  const count = candidates?.length ?? data.rowCount;
  const matching = new Int32Array(count);
  let found = 0;
  for (let index = 0; index < count; index++) {
    const row = candidates?.[index] ?? index;
    if (tests.every((test) => test(row))) matching[found++] = row;
  }
  return matching.subarray(0, found);
}

type RowTest = (row: number) => boolean;

function rowTests(list: ListDescription, conditions: readonly Condition[], data: ColumnData): RowTest[] {
  const facets = conditions.filter((condition) => condition.kind === 'facet');
  const tests = facets.length === 0 ? [] : [facetTest(facetColumn(list), facets, data)];
  for (const condition of conditions) {
    if (condition.kind === 'range') tests.push(rangeTest(condition, data));
    if (condition.kind === 'ids') tests.push(idTest(new Set(condition.oneOf), data));
    if (condition.kind === 'idPrefix') tests.push(prefixTest(condition.prefix, data));
  }
  return tests;
}

/** Null never matches, because a comparison with NaN is false. */
function rangeTest(
  { column, from = -Infinity, to = Infinity }: Condition & { kind: 'range' },
  data: ColumnData,
): RowTest {
  const values = numbersOf(data, column);
  return (row) => (values[row] as number) >= from && (values[row] as number) <= to;
}

function idTest(ids: ReadonlySet<string>, data: ColumnData): RowTest {
  const column = uuidsOf(data, 'id');
  return (row) => ids.has(uuidAt(column, row));
}

function prefixTest(prefix: string, data: ColumnData): RowTest {
  const column = uuidsOf(data, 'id');
  return (row) => uuidAt(column, row).startsWith(prefix);
}

/** A user has few different facet codes, so each is judged once. */
function facetTest(
  column: FacetColumn,
  conditions: readonly (Condition & { kind: 'facet' })[],
  data: ColumnData,
): RowTest {
  const judges = conditions.map(({ facet, oneOf }) => {
    const values = facetValues(column, facet, data.dictionaries);
    const wanted = new Set(oneOf.map((value) => values.indexOf(value)));
    const index = indexOfFacet(column, facet);
    return (code: number) => wanted.has(index(code));
  });
  const codes = numbersOf(data, 'facets');
  const verdicts = new Map<number, boolean>();
  return (row) => {
    const code = codes[row] as number;
    let verdict = verdicts.get(code);
    if (verdict === undefined) {
      verdict = judges.every((judge) => judge(code));
      verdicts.set(code, verdict);
    }
    return verdict;
  };
}

function facetColumn(list: ListDescription): FacetColumn {
  const column = list.columns.facets;
  if (column?.kind !== 'facets') throw new RangeError('The list has no facets.');
  return column;
}

function facetValues(column: FacetColumn, name: string, dictionaries: Dictionaries): readonly (string | boolean)[] {
  const facet = column.facets[name];
  if (facet === undefined) throw new RangeError(`No facet ${name}.`);
  if (facet.kind === 'presence') return [false, true];
  return facet.kind === 'values' ? facet.values : (dictionaries[facet.attribute] ?? []);
}

/** Rows ascend by `value` and, where that is equal, by `compare`; then by sequence number. */
interface SortKey {
  value(row: number): number;
  /** Only where equal values leave a difference. */
  compare?(a: number, b: number): number;
}

/** Undefined for creation order. */
function sortKey(list: ListDescription, query: ListQuery, data: ColumnData): SortKey | undefined {
  const { order } = query;
  if (order.kind === 'creation') return undefined;
  if (order.kind === 'facet') return facetSortKey(facetColumn(list), order.facet, data);
  if (list.columns[order.column]?.kind === 'uuid') {
    const uuids = uuidsOf(data, order.column);
    return {
      value: (row) => uuids.readUIntBE(row * 16, 6),
      compare: (a, b) => uuids.compare(uuids, b * 16, b * 16 + 16, a * 16, a * 16 + 16),
    };
  }
  const values = numbersOf(data, order.column);
  return { value: (row) => values[row] as number };
}

/** Known values sort as the description lists them, those of a dictionary as texts. */
function facetSortKey(column: FacetColumn, name: string, data: ColumnData): SortKey {
  const codes = numbersOf(data, 'facets');
  const index = indexOfFacet(column, name);
  if (column.facets[name]?.kind !== 'dictionary') return { value: (row) => index(codes[row] as number) };
  const texts = facetValues(column, name, data.dictionaries);
  const sorted = texts.toSorted((a, b) => (a < b ? -1 : 1));
  const rank = texts.map((text) => sorted.indexOf(text));
  return { value: (row) => rank[index(codes[row] as number)] ?? Number.NaN };
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
  const { valued, nulls } = splitNulls(matching, key);
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

function splitNulls(matching: Int32Array, { value }: SortKey): { valued: ValuedRows; nulls: Int32Array } {
  const { length } = matching;
  const [rows, values, nulls] = [new Int32Array(length), new Float64Array(length), new Int32Array(length)];
  let count = 0;
  for (let index = 0; index < length; index++) {
    const row = matching[index] as number;
    const number = value(row);
    if (Number.isNaN(number)) nulls[index - count] = row;
    else {
      rows[count] = row;
      values[count++] = number;
    }
  }
  const valued = { rows: rows.subarray(0, count), values: values.subarray(0, count) };
  return { valued, nulls: nulls.subarray(0, length - count) };
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
  const [least, most] = bounds(values);
  if (least === most && key.compare === undefined) return sliceRows(rows, { from, to });
  if (least === most || rows.length <= fewRows) return sortRows(rows, key).slice(from, to);
  const scale = bucketCount / (most - least);
  const bucketOf = (value: number) => Math.min(Math.floor((value - least) * scale), bucketCount - 1);
  const counts = new Uint32Array(bucketCount);
  for (const value of values) (counts[bucketOf(value)] as number) += 1;
  const countIn = (bucket: number) => counts[bucket] as number;

  let [fromBucket, rowsBefore] = [0, 0];
  while (rowsBefore + countIn(fromBucket) <= from) rowsBefore += countIn(fromBucket++);
  let [toBucket, rowsBeforeLast] = [fromBucket, rowsBefore];
  while (rowsBeforeLast + countIn(toBucket) < to) rowsBeforeLast += countIn(toBucket++);

  const within = (bucket: number, part: Window) => {
    const ofBucket = filterRows(valued, countIn(bucket), (value) => bucketOf(value) === bucket);
    return rowsAtRanks(ofBucket, key, part);
  };
  if (fromBucket === toBucket) return within(fromBucket, { from: from - rowsBefore, to: to - rowsBefore });
  const between = filterRows(valued, rowsBeforeLast - rowsBefore - countIn(fromBucket), (value) => {
    const bucket = bucketOf(value);
    return bucket > fromBucket && bucket < toBucket;
  });
  return [
    ...within(fromBucket, { from: from - rowsBefore, to: countIn(fromBucket) }),
    ...sortRows(between.rows, key),
    ...within(toBucket, { from: 0, to: to - rowsBeforeLast }),
  ];
}

/** Least and greatest of at least one value. */
function bounds(values: Float64Array): [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  return [least, most];
}

/** The rows whose values pass the test; `length` is their number. */
function filterRows({ rows, values }: ValuedRows, length: number, test: (value: number) => boolean): ValuedRows {
  const kept = { rows: new Int32Array(length), values: new Float64Array(length) };
  let count = 0;
  for (let index = 0; count < length; index++) {
    const value = values[index] as number;
    if (!test(value)) continue;
    kept.rows[count] = rows[index] as number;
    kept.values[count++] = value;
  }
  return kept;
}

/** Ties stay ascending, because the sort is stable. */
function sortRows(rows: Int32Array, { value, compare }: SortKey): number[] {
  return Array.from(rows).sort((a, b) => value(a) - value(b) || (compare?.(a, b) ?? 0));
}

/** The rows that are in every set, ascending as the sets are; undefined where there is no set. */
export function intersect(sets: readonly (readonly number[])[]): readonly number[] | undefined {
  const [first, ...others] = sets;
  const sought = others.map((rows) => new Set(rows));
  return first?.filter((row) => sought.every((rows) => rows.has(row)));
}

function numbersOf(data: ColumnData, name: string): Float64Array {
  const values = data.numbers.get(name);
  if (values === undefined) throw new CorruptData(`The column ${name} was not read.`);
  return values;
}

function uuidsOf(data: ColumnData, name: string): Buffer {
  const values = data.uuids.get(name);
  if (values === undefined) throw new CorruptData(`The column ${name} was not read.`);
  return values;
}
