/**
 * From columns to the page: which rows match, how many they are, and which of them are on the page.
 * Pure.
 */

import { indexOfFacet } from '../columns/facets.ts';
import { type FacetColumn, facetColumn, type ListDescription } from '../columns/list-description.ts';
import { type ColumnData, facetValues, highBits, matchingRows, numbersOf, tabulate, uuidsOf } from './matching-rows.ts';
import { locateSummarized, type Section, type SummarizedRows } from './page-bounds.ts';
import type { ListQuery, Order } from './query.ts';
import { rowsAtRanks, splitNulls, type Window } from './ranks.ts';

export interface Selection {
  /** Sequence numbers of the page's rows in the order of the query; empty while rows are wanted. */
  readonly sequence: readonly number[];
  /** The exact number of all rows that match. */
  readonly total: number;
  /** Summarized rows that may be on the page: read them, and make the selection again. */
  readonly wanted: readonly SummarizedRows[];
  /** The rows that were read and match, ascending. */
  readonly matching: Int32Array;
}

/** `summarized` are the matching rows that were not read, ascending. */
export function select(
  list: ListDescription,
  query: ListQuery,
  data: ColumnData,
  summarized: readonly SummarizedRows[] = [],
): Selection {
  const matching = matchingRows(list, query.conditions, data);
  const total = rowsIn({ rows: matching, summarized });
  const { direction, offset, limit } = query;
  const window = { direction, from: offset, to: Math.min(offset + limit, total) };
  const { valuesOf, compare } = sortKey(list, query, data);
  const section = { rows: matching, values: valuesOf(matching), compare, summarized };
  const { rows, wanted } = cutPage(section, window, cutAscending);
  return { total, matching, wanted, sequence: wanted.length > 0 ? [] : rows };
}

/** Rows ascend by these values and, where they are equal, by `compare`; then by sequence number. */
interface SortKey {
  /** The values of these rows, with NaN for null. */
  valuesOf(rows: Int32Array): Float64Array;
  /** Only where equal values leave a difference. */
  readonly compare?: (a: number, b: number) => number;
}

/** In creation order all rows have one value. */
export function sortKey(list: ListDescription, query: ListQuery, data: ColumnData): SortKey {
  const { order } = query;
  if (order.kind === 'creation') return { valuesOf: (rows) => new Float64Array(rows.length) };
  if (order.kind === 'facet') return facetSortKey(facetColumn(list), order, data);
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

type FacetOrder = Extract<Order, { readonly kind: 'facet' }>;

/** Known values sort as the description lists them, dictionary values as texts. */
function facetSortKey(column: FacetColumn, order: FacetOrder, data: ColumnData): SortKey {
  const codes = numbersOf(data, 'facets');
  const rankOf = tabulate(column, data.dictionaries, facetRank(column, order, data.dictionaries));
  return { valuesOf: (rows) => mapRows(rows, (row) => rankOf(codes[row] as number)) };
}

/**
 * The place of a code's value among the facet's values; NaN for a text that is not in the
 * dictionary.
 */
export function facetRank(
  column: FacetColumn,
  { facet: name, isReversed }: FacetOrder,
  dictionaries: ColumnData['dictionaries'],
): (code: number) => number {
  const index = indexOfFacet(column, name);
  const texts = facetValues(column, name, dictionaries);
  const isDictionary = column.facets[name]?.kind === 'dictionary';
  const sorted = isDictionary ? texts.toSorted((a, b) => (a < b ? -1 : 1)) : texts;
  const rankOfText = new Map((isReversed ? sorted.toReversed() : sorted).map((text, rank) => [text, rank]));
  return (code) => {
    const text = texts[index(code)];
    return text === undefined ? Number.NaN : (rankOfText.get(text) ?? Number.NaN);
  };
}

/** A query in the order of a facet with known values. */
export type FacetQuery = ListQuery & { readonly order: FacetOrder };

/**
 * The number of matching rows with each value of the facet that the query orders by, by the rank of
 * the value. For summarized rows, `low` is the rank.
 */
export function countRanks(
  list: ListDescription,
  query: FacetQuery,
  data: ColumnData,
  summarized: readonly SummarizedRows[] = [],
): ReadonlyMap<number, number> {
  const ranks = facetSortKey(facetColumn(list), query.order, data).valuesOf(matchingRows(list, query.conditions, data));
  const counts = new Map<number, number>();
  const add = (rank: number, count: number) => counts.set(rank, (counts.get(rank) ?? 0) + count);
  for (const rank of ranks) add(rank, 1);
  for (const { low, count } of summarized) add(low ?? Number.NaN, count);
  return counts;
}

/** Several times as fast as Float64Array.from. */
function mapRows(rows: Int32Array, value: (row: number) => number): Float64Array {
  const values = new Float64Array(rows.length);
  for (let index = 0; index < rows.length; index++) values[index] = value(rows[index] as number);
  return values;
}

/** Ranks in this direction. */
interface DirectedWindow extends Window {
  readonly direction: ListQuery['direction'];
}

/** Rows within a window, as far as nothing is wanted. */
export interface Cut<Wanted extends SummarizedRows = SummarizedRows> {
  readonly rows: readonly number[];
  readonly wanted: readonly Wanted[];
}

/**
 * The rows of the page: rows without a value come last in either direction. `cutAscending` is given
 * rows that all have a value, or none, and ranks among them that are not empty.
 */
export function cutPage<Wanted extends SummarizedRows>(
  { rows, values, compare, summarized }: Section,
  { direction, from, to }: DirectedWindow,
  cutAscending: (section: Section, ranks: Window) => Cut<Wanted>,
): Cut<Wanted> {
  const { valued, nulls } = splitNulls(rows, values);
  const hasValue = ({ low }: SummarizedRows) => low !== null;
  const sections: Section[] = [
    { ...valued, compare, summarized: summarized.filter(hasValue) },
    {
      rows: nulls,
      values: new Float64Array(nulls.length),
      summarized: summarized.filter((each) => !hasValue(each)).map((each) => ({ ...each, low: 0, high: 0 })),
    },
  ];
  let start = 0;
  const cuts = sections.map((section) => {
    const length = rowsIn(section);
    const clip = (rank: number) => Math.min(Math.max(rank - start, 0), length);
    const window = { direction, from: clip(from), to: clip(to) };
    start += length;
    return cutSection(section, window, cutAscending);
  });
  return { rows: cuts.flatMap((cut) => cut.rows), wanted: cuts.flatMap((cut) => cut.wanted) };
}

export function rowsIn({ rows, summarized }: Pick<Section, 'rows' | 'summarized'>): number {
  return summarized.reduce((sum, { count }) => sum + count, rows.length);
}

/** A descending window is an ascending one counted from the end, reversed: ties reverse with it. */
function cutSection<Wanted extends SummarizedRows>(
  section: Section,
  { direction, from, to }: DirectedWindow,
  cutAscending: (section: Section, ranks: Window) => Cut<Wanted>,
): Cut<Wanted> {
  if (from >= to) return { rows: [], wanted: [] };
  const length = rowsIn(section);
  if (direction === 'ASC') return cutAscending(section, { from, to });
  const { rows, wanted } = cutAscending(section, { from: length - to, to: length - from });
  return { rows: rows.toReversed(), wanted };
}

function cutAscending(section: Section, { from, to }: Window): Cut {
  const { before, wanted } = locateSummarized(section, { from, to });
  if (wanted.length > 0) return { rows: [], wanted };
  return { rows: rowsAtRanks(section, { from: from - before, to: to - before }), wanted };
}
