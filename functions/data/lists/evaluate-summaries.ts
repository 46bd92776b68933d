/** Answers a query from summaries, a segment at a time, without the values themselves. Pure. */

import { type Dictionaries, indexOfFacet } from '../columns/facets.ts';
import { facetColumn, type ListDescription } from '../columns/list-description.ts';
import type { Cell } from '../columns/summary.ts';
import { facetTest, tabulate } from './matching-rows.ts';
import type { SummarizedRows } from './page-bounds.ts';
import { planColumns } from './plan.ts';
import type { Condition, ListQuery } from './query.ts';
import { facetRank } from './select.ts';
import type { Span } from './span.ts';

/** The summaries of a segment, by the names of their columns; a missing summary has no entry. */
type Summaries = ReadonlyMap<string, readonly Cell[]>;

/** What a query asks of each segment. */
interface SummaryPlan {
  readonly list: ListDescription;
  /** The one column of numbers that conditions and order are about: its cells are enough. */
  readonly only: string | undefined;
  readonly orderColumn: string | undefined;
  readonly ranges: ReadonlyMap<string, Range>;
  /** Whether the conditions on facets hold for a row of this code: 1, otherwise 0. */
  readonly matches: (code: number) => number;
  /** Where rows of a code lie in the order of a facet; NaN: last. Undefined in other orders. */
  readonly rank: ((code: number) => number) | undefined;
}

/** The values that all conditions on a column leave: none where `from` is greater than `to`. */
interface Range {
  readonly from: number;
  readonly to: number;
}

export function planSummaries(list: ListDescription, query: ListQuery, dictionaries: Dictionaries): SummaryPlan {
  const { conditions, order } = query;
  const facets = facetColumn(list);
  const ofFacets = conditions.filter((condition) => condition.kind === 'facet');
  const test = facetTest(ofFacets, facets, dictionaries);
  const [only, ...others] = planColumns(list, query).names;
  return {
    list,
    only: others.length === 0 && only !== 'facets' ? only : undefined,
    orderColumn: order.kind === 'column' ? order.column : undefined,
    ranges: rangesOf(conditions),
    matches: tabulate(facets, dictionaries, (code) => (test(code) ? 1 : 0)),
    rank: order.kind === 'facet' ? tabulate(facets, dictionaries, facetRank(facets, order, dictionaries)) : undefined,
  };
}

/**
 * The number of rows of a segment that match, and where they are in the query's order. Undefined if
 * the summaries leave it open: one is missing, or values straddle a bound.
 */
export function evaluateSummaries(plan: SummaryPlan, summaries: Summaries, rows: Span): SummarizedRows[] | undefined {
  if (plan.only === undefined) return summarizeFacets(plan, summaries, rows);
  return summarizeColumn(plan, plan.only, summaries.get(plan.only), rows);
}

function summarizeColumn(
  plan: SummaryPlan,
  name: string,
  cells: readonly Cell[] | undefined,
  rows: Span,
): SummarizedRows[] | undefined {
  const kept: SummarizedRows[] = [];
  if (cells === undefined) return undefined;
  for (const cell of cells) {
    const side = sideOf(cell, plan.ranges.get(name));
    if (side === 'straddles') return undefined;
    if (side === 'inside') kept.push(plan.orderColumn === undefined ? alike(rows, cell.count) : { ...cell, rows });
  }
  return kept;
}

/**
 * The facets count the rows of each combination of values, including which rows have a time. Of
 * each other column, either all values must be in its ranges or none.
 */
function summarizeFacets(plan: SummaryPlan, summaries: Summaries, rows: Span): SummarizedRows[] | undefined {
  const { orderColumn, ranges, matches, rank } = plan;
  const present: ((code: number) => boolean)[] = [];
  for (const [name, range] of ranges) {
    const cells = summaries.get(name);
    if (cells === undefined) return undefined;
    const sides = new Set(valuesOf(cells).map((cell) => sideOf(cell, range)));
    if (!sides.has('inside') && !sides.has('straddles')) return [];
    const isPresent = presence(plan, name, cells);
    if (sides.size > 1 || sides.has('straddles') || isPresent === undefined) return undefined;
    present.push(isPresent);
  }
  const ordered = orderColumn === undefined ? undefined : summaries.get(orderColumn);
  const hasPlace = ordered && presence(plan, orderColumn as string, ordered);
  if (orderColumn !== undefined && hasPlace === undefined) return undefined;
  const codes = summaries.get('facets');
  if (codes === undefined) return undefined;
  const byRank = new Map<number, number>();
  let [valued, nulls] = [0, 0];
  for (const { low: code, high, count } of codes) {
    if (code === null || code !== high) return undefined;
    if (matches(code) === 0 || !present.every((isPresent) => isPresent(code))) continue;
    const place = rank?.(code) ?? 0;
    if (Number.isNaN(place) || hasPlace?.(code) === false) nulls += count;
    else if (rank === undefined) valued += count;
    else byRank.set(place, (byRank.get(place) ?? 0) + count);
  }
  const kept: SummarizedRows[] = Array.from(byRank, ([place, count]) => ({ rows, low: place, high: place, count }));
  const values = valuesOf(ordered ?? []);
  const [first, last] = [values.at(0), values.at(-1)];
  if (valued > 0 && orderColumn === undefined) kept.push(alike(rows, valued));
  else if (valued > 0 && (first === undefined || last === undefined)) return undefined;
  else if (valued > 0) kept.push({ rows, low: first?.low ?? null, high: last?.high ?? null, count: valued });
  return nulls > 0 ? [...kept, { rows, low: null, high: null, count: nulls }] : kept;
}

/** Where a cell lies, seen from the range of its column. Null is outside of any. */
function sideOf({ low, high }: Cell, range: Range | undefined): 'inside' | 'outside' | 'straddles' {
  if (range === undefined) return 'inside';
  if (low === null || high === null) return 'outside';
  if (range.from <= low && high <= range.to) return 'inside';
  return high < range.from || low > range.to || range.from > range.to ? 'outside' : 'straddles';
}

/**
 * Whether a row has a value in the column, by its facets' code; undefined where the facets do not
 * say.
 */
function presence(
  { list }: SummaryPlan,
  name: string,
  cells: readonly Cell[],
): ((code: number) => boolean) | undefined {
  if (cells.every(({ low }) => low !== null)) return () => true;
  const facets = facetColumn(list);
  const column = list.columns[name];
  const attribute = column !== undefined && 'attribute' in column ? column.attribute : undefined;
  const facet = Object.entries(facets.facets).find(
    ([, { kind, attribute: ofFacet }]) => kind === 'presence' && ofFacet === attribute,
  );
  const index = facet && indexOfFacet(facets, facet[0]);
  return index && ((code) => index(code) === 1);
}

/** What all ranges of a column have in common, by its name. */
function rangesOf(conditions: readonly Condition[]): Map<string, Range> {
  const ranges = new Map<string, Range>();
  for (const condition of conditions) {
    if (condition.kind !== 'range') continue;
    const { column, from = -Infinity, to = Infinity } = condition;
    const { from: least, to: most } = ranges.get(column) ?? { from, to };
    ranges.set(column, { from: Math.max(from, least), to: Math.min(to, most) });
  }
  return ranges;
}

/** In creation order all rows have one value. */
function alike(rows: Span, count: number): SummarizedRows {
  return { rows, low: 0, high: 0, count };
}

function valuesOf(cells: readonly Cell[]): readonly Cell[] {
  return cells.filter(({ low }) => low !== null);
}
