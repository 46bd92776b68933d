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

/**
 * The summaries of a segment, by the names of their columns; those that are missing are not there.
 */
export type Summaries = ReadonlyMap<string, readonly Cell[]>;

/**
 * The function that finds how many rows of a segment match, and where in the query's order they
 * lie; undefined where the summaries leave it open: one is missing, or values straddle a bound.
 */
export function summaryEvaluator(
  list: ListDescription,
  query: ListQuery,
  dictionaries: Dictionaries,
): (summaries: Summaries, rows: Span) => SummarizedRows[] | undefined {
  const { conditions, order } = query;
  const { names } = planColumns(list, query);
  const facets = facetColumn(list);
  const ofFacets = conditions.filter((condition) => condition.kind === 'facet');
  const ranges = rangesOf(conditions);
  const orderColumn = order.kind === 'column' ? order.column : undefined;
  const test = facetTest(ofFacets, facets, dictionaries);
  const matches = tabulate(facets, dictionaries, (code) => (test(code) ? 1 : 0));
  const rank =
    order.kind === 'facet' ? tabulate(facets, dictionaries, facetRank(facets, order, dictionaries)) : undefined;
  const [only] = names;
  return (summaries, rows) =>
    names.length === 1 && only !== undefined && only !== 'facets'
      ? summarizeColumn(summaries.get(only), only, rows)
      : summarizeFacets(summaries, rows);

  /** Conditions and order are about one column of numbers: its cells are enough. */
  function summarizeColumn(cells: readonly Cell[] | undefined, name: string, rows: Span): SummarizedRows[] | undefined {
    const kept: SummarizedRows[] = [];
    if (cells === undefined) return undefined;
    for (const cell of cells) {
      const side = sideOf(cell, name);
      if (side === 'straddles') return undefined;
      if (side === 'inside') kept.push(orderColumn === undefined ? alike(rows, cell.count) : { ...cell, rows });
    }
    return kept;
  }

  /**
   * The facets count the rows of each combination of values, among them which rows have a time. Of
   * each other column, either all values must be in its ranges or none.
   */
  function summarizeFacets(summaries: Summaries, rows: Span): SummarizedRows[] | undefined {
    const present: ((code: number) => boolean)[] = [];
    for (const name of ranges.keys()) {
      const cells = summaries.get(name);
      if (cells === undefined) return undefined;
      const sides = new Set(valuesOf(cells).map((cell) => sideOf(cell, name)));
      if (!sides.has('inside') && !sides.has('straddles')) return [];
      const isPresent = presence(cells, name);
      if (sides.size > 1 || sides.has('straddles') || isPresent === undefined) return undefined;
      present.push(isPresent);
    }
    const ordered = orderColumn === undefined ? undefined : summaries.get(orderColumn);
    const hasPlace = ordered && presence(ordered, orderColumn as string);
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
  function sideOf({ low, high }: Cell, name: string): 'inside' | 'outside' | 'straddles' {
    const range = ranges.get(name);
    if (range === undefined) return 'inside';
    if (low === null || high === null) return 'outside';
    if (range.from <= low && high <= range.to) return 'inside';
    return high < range.from || low > range.to || range.from > range.to ? 'outside' : 'straddles';
  }

  /**
   * Whether a row has a value in the column, by its facets' code; undefined where the facets do not
   * say.
   */
  function presence(cells: readonly Cell[], name: string): ((code: number) => boolean) | undefined {
    if (cells.every(({ low }) => low !== null)) return () => true;
    const column = list.columns[name];
    const attribute = column !== undefined && 'attribute' in column ? column.attribute : undefined;
    const facet = Object.entries(facets.facets).find(
      ([, { kind, attribute: ofFacet }]) => kind === 'presence' && ofFacet === attribute,
    );
    const index = facet && indexOfFacet(facets, facet[0]);
    return index && ((code) => index(code) === 1);
  }
}

/**
 * What all ranges of a column have in common, by its name. Nothing lies in a range whose `from` is
 * greater than its `to`.
 */
function rangesOf(conditions: readonly Condition[]): Map<string, { readonly from: number; readonly to: number }> {
  const ranges = new Map<string, { readonly from: number; readonly to: number }>();
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
