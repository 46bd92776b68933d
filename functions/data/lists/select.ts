/** From columns to the page: which rows match, how many, and which of them stand on the page. Pure. */

import { CorruptData } from '../../errors.ts';
import { type Dictionaries, indexOfFacet } from './facets.ts';
import type { FacetColumn, ListDescription } from './list-description.ts';
import type { Condition, ListQuery } from './list-query.ts';
import { uuidAt } from './packed-uuids.ts';

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
  if (key === undefined) return orderedPart(matching, direction, window, rangeOf);
  const valued = matching.filter((row) => !Number.isNaN(key.value(row)));
  const nulls = matching.filter((row) => Number.isNaN(key.value(row)));
  const ranked = (rows: Int32Array, part: Window) => ranksOf(rows, key, part);
  return [
    ...orderedPart(valued, direction, clip(window, 0, valued.length), ranked),
    ...orderedPart(nulls, direction, clip(window, valued.length, nulls.length), rangeOf),
  ];
}

/** The window's part within a section of `length` rows that starts at `start`, counted from there. */
function clip(window: Window, start: number, length: number): Window {
  const clamp = (at: number) => Math.min(Math.max(at - start, 0), length);
  return { from: clamp(window.from), to: clamp(window.to) };
}

/** A descending window is the ascending one counted from the end, reversed: ties reverse with it. */
function orderedPart(
  rows: Int32Array,
  direction: 'ASC' | 'DESC',
  { from, to }: Window,
  ascending: (rows: Int32Array, window: Window) => number[],
): number[] {
  if (from >= to) return [];
  if (direction === 'ASC') return ascending(rows, { from, to });
  return ascending(rows, { from: rows.length - to, to: rows.length - from }).reverse();
}

function rangeOf(rows: Int32Array, { from, to }: Window): number[] {
  return Array.from(rows.subarray(from, to));
}

/**
 * The rows whose ranks in ascending order lie in the window. Sorting the bare numbers is native and quick; it tells the values
 * between which the window lies, and only the rows with those values are sorted as rows.
 */
function ranksOf(rows: Int32Array, key: SortKey, { from, to }: Window): number[] {
  const values = Float64Array.from(rows, (row) => key.value(row));
  const sorted = values.toSorted();
  const least = sorted[from] as number;
  const most = sorted[to - 1] as number;
  const candidates: number[] = [];
  let below = 0;
  for (let at = 0; at < rows.length; at++) {
    const value = values[at] as number;
    if (value < least) below++;
    else if (value <= most) candidates.push(rows[at] as number);
  }
  const { compare } = key;
  if (least !== most || compare !== undefined) {
    candidates.sort((a, b) => key.value(a) - key.value(b) || (compare?.(a, b) ?? 0)); // ties stay ascending
  }
  return candidates.slice(from - below, to - below);
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
