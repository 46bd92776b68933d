/** From columns to the page: which rows match, how many, and which of them stand on the page. Pure. */

import { CorruptData } from '../../errors.ts';
import { type Dictionaries, indexOfFacet } from '../columns/facets.ts';
import type { FacetColumn, ListDescription } from '../columns/list-description.ts';
import { uuidAt } from '../columns/packed-uuids.ts';
import type { Condition, ListQuery } from './query.ts';

/** What was read for a query: columns at full length, NaN for null, and the union of each set condition's sets, ascending. */
export interface ColumnData {
  readonly rowCount: number;
  readonly dictionaries: Dictionaries;
  readonly numbers: ReadonlyMap<string, Float64Array>;
  readonly uuids: ReadonlyMap<string, Buffer>;
  readonly sets: readonly (readonly number[])[];
}

/** Sequence numbers of the page's rows in the order asked for, and the exact number of all that match. */
export interface Selection {
  readonly sequence: readonly number[];
  readonly total: number;
}

export function select(list: ListDescription, query: ListQuery, data: ColumnData): Selection {
  const matching = matchingRows(list, query.conditions, data);
  const window = { from: query.offset, to: Math.min(query.offset + query.limit, matching.length) };
  return { sequence: page(matching, sortKey(list, query, data), query.direction, window), total: matching.length };
}

/** The rows that meet these conditions, ascending. */
export function matchingRows(list: ListDescription, conditions: readonly Condition[], data: ColumnData): Int32Array {
  const tests = rowTests(list, conditions, data);
  const candidates = intersection(data.sets)?.filter((row) => row < data.rowCount);
  const count = candidates?.length ?? data.rowCount;
  const matching = new Int32Array(count);
  let found = 0;
  for (let at = 0; at < count; at++) {
    const row = candidates?.[at] ?? at;
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

/** A comparison with NaN is false: null never lies within. */
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

/** A user has few different facet codes: each is judged once. */
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
  /** Where the number alone does not tell rows apart. */
  compare?(a: number, b: number): number;
}

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

/** Known values sort as the description lists them, a dictionary's as texts. */
function facetSortKey(column: FacetColumn, name: string, data: ColumnData): SortKey {
  const codes = numbersOf(data, 'facets');
  const index = indexOfFacet(column, name);
  if (column.facets[name]?.kind !== 'dictionary') return { value: (row) => index(codes[row] as number) };
  const texts = facetValues(column, name, data.dictionaries);
  const sorted = texts.toSorted((a, b) => (a < b ? -1 : 1));
  const rank = texts.map((text) => sorted.indexOf(text));
  return { value: (row) => rank[index(codes[row] as number)] ?? Number.NaN };
}

interface Window {
  readonly from: number;
  readonly to: number;
}

/** The rows of the window in the order asked for. `matching` ascends, as creation order does. */
function page(matching: Int32Array, key: SortKey | undefined, direction: 'ASC' | 'DESC', window: Window): number[] {
  if (key === undefined) return orderedPart(matching.length, direction, window, (part) => rangeOf(matching, part));
  const { valued, nulls } = keyed(matching, key);
  const { length } = valued.rows;
  return [
    ...orderedPart(length, direction, clip(window, 0, length), (part) => ranksOf(valued, key, part)),
    ...orderedPart(nulls.length, direction, clip(window, length, nulls.length), (part) => rangeOf(nulls, part)),
  ];
}

/** Rows, ascending, and the value of each. */
interface ValuedRows {
  readonly rows: Int32Array;
  readonly values: Float64Array;
}

function keyed(matching: Int32Array, { value }: SortKey): { valued: ValuedRows; nulls: Int32Array } {
  const { length } = matching;
  const [rows, values, nulls] = [new Int32Array(length), new Float64Array(length), new Int32Array(length)];
  let count = 0;
  for (let at = 0; at < length; at++) {
    const row = matching[at] as number;
    const number = value(row);
    if (Number.isNaN(number)) nulls[at - count] = row;
    else {
      rows[count] = row;
      values[count++] = number;
    }
  }
  const valued = { rows: rows.subarray(0, count), values: values.subarray(0, count) };
  return { valued, nulls: nulls.subarray(0, length - count) };
}

/** The window's part within a section of `length` rows that starts at `start`, counted from there. */
function clip(window: Window, start: number, length: number): Window {
  const clamp = (at: number) => Math.min(Math.max(at - start, 0), length);
  return { from: clamp(window.from), to: clamp(window.to) };
}

/** A descending window is the ascending one counted from the end, reversed: ties reverse with it. */
function orderedPart(
  length: number,
  direction: 'ASC' | 'DESC',
  { from, to }: Window,
  ascending: (window: Window) => number[],
): number[] {
  if (from >= to) return [];
  if (direction === 'ASC') return ascending({ from, to });
  return ascending({ from: length - to, to: length - from }).reverse();
}

function rangeOf(rows: Int32Array, { from, to }: Window): number[] {
  return Array.from(rows.subarray(from, to));
}

/** Intervals that values are counted by, and rows that are rather sorted than counted once more. */
const intervals = 1024;
const fewRows = 1024;

/**
 * The rows whose ranks in ascending order lie in the window. How many values lie in each of many equal intervals tells in which
 * intervals the window begins and ends: in these two the same is done again; what lies between them is sorted. Linear in the rows,
 * whatever their values; only ids that begin alike are all sorted.
 */
function ranksOf(valued: ValuedRows, key: SortKey, { from, to }: Window): number[] {
  const { rows, values } = valued;
  const [least, most] = bounds(values);
  if (least === most && key.compare === undefined) return rangeOf(rows, { from, to });
  if (least === most || rows.length <= fewRows) return sortedRows(rows, key).slice(from, to);
  const scale = intervals / (most - least);
  const interval = (value: number) => Math.min(Math.floor((value - least) * scale), intervals - 1);
  const counts = new Uint32Array(intervals);
  for (const value of values) (counts[interval(value)] as number) += 1;
  const count = (at: number) => counts[at] as number;
  let [first, below] = [0, 0];
  while (below + count(first) <= from) below += count(first++);
  let [last, belowLast] = [first, below];
  while (belowLast + count(last) < to) belowLast += count(last++);
  const within = (at: number, part: Window) =>
    ranksOf(
      rowsWith(valued, count(at), (value) => interval(value) === at),
      key,
      part,
    );
  if (first === last) return within(first, { from: from - below, to: to - below });
  const middle = rowsWith(valued, belowLast - below - count(first), (value) => {
    const at = interval(value);
    return at > first && at < last;
  });
  return [
    ...within(first, { from: from - below, to: count(first) }),
    ...sortedRows(middle.rows, key),
    ...within(last, { from: 0, to: to - belowLast }),
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

function rowsWith({ rows, values }: ValuedRows, length: number, test: (value: number) => boolean): ValuedRows {
  const kept = { rows: new Int32Array(length), values: new Float64Array(length) };
  let count = 0;
  for (let at = 0; count < length; at++) {
    const value = values[at] as number;
    if (!test(value)) continue;
    kept.rows[count] = rows[at] as number;
    kept.values[count++] = value;
  }
  return kept;
}

/** Ties stay ascending: the sort is stable. */
function sortedRows(rows: Int32Array, { value, compare }: SortKey): number[] {
  return Array.from(rows).sort((a, b) => value(a) - value(b) || (compare?.(a, b) ?? 0));
}

/** The rows of every set, ascending; undefined where there is no set. */
function intersection(sets: readonly (readonly number[])[]): readonly number[] | undefined {
  const [first, ...others] = sets;
  const rest = others.map((set) => new Set(set));
  return first?.filter((row) => rest.every((set) => set.has(row)));
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
