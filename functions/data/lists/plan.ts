/** Which reads answer a query. Everything here is pure. */

import type { ListDescription, PositionSets } from '../columns/list-description.ts';
import { isSummarized } from '../columns/summary.ts';
import type { SummarizedRows } from './page-bounds.ts';
import type { ListQuery, Order } from './query.ts';
import { type Span, spansOf } from './span.ts';

export type Plan =
  /**
   * All rows in creation order, or all that were created within bounds: the page is a range of
   * sequence numbers.
   */
  | { readonly kind: 'sequence' }
  | SmallSetPlan
  /**
   * All rows by id, the order of the table's own key: the page is found by reading up to its end.
   */
  | { readonly kind: 'idOrder' }
  /** At most 100 rows named one by one, fetched whole. */
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  /**
   * Few rows are expected, and the table is keyed by id. When one answer does not hold them, the
   * columns are read instead.
   */
  | { readonly kind: 'idPrefix'; readonly prefix: string }
  | ColumnsPlan;

/** The rows of one set of few rows, in creation order: the set says which rows the page has. */
export interface SmallSetPlan extends Required<Pick<PositionSets, 'numberedBy'>> {
  readonly kind: 'smallSet';
  readonly sets: PositionSets;
  readonly value: string;
}

/** The columns that the conditions and the order name; the page's rows are fetched afterwards. */
export interface ColumnsPlan {
  readonly kind: 'columns';
  readonly names: readonly string[];
  /**
   * The columns whose summaries together say how many rows of a segment match; none where no
   * summary can.
   */
  readonly summaries: readonly string[];
}

/**
 * With two hexadecimal digits a prefix names one of 256 random ids. Fetching their rows, at 0.8 KB
 * each, costs a fifth of reading the ids of all rows.
 */
const selectivePrefix = 2;

/** Reading this number of rows in vain costs no more than the ids of 50,000 rows. */
const maxRowsInIdOrder = 1_000;

/** The cheapest reads that answer the query. */
export function planQuery(list: ListDescription, query: ListQuery): Plan {
  const { conditions, order } = query;
  const ids = conditions.find((condition) => condition.kind === 'ids')?.oneOf;
  if (ids !== undefined) return { kind: 'ids', ids };
  const prefix = conditions.find((condition) => condition.kind === 'idPrefix')?.prefix;
  if (prefix !== undefined && prefix.replaceAll('-', '').length >= selectivePrefix) return { kind: 'idPrefix', prefix };
  if (order.kind === 'creation' && conditions.every(({ kind }) => kind === 'created')) return { kind: 'sequence' };
  if (conditions.length === 0 && isOrderById(order) && query.offset + query.limit <= maxRowsInIdOrder) {
    return { kind: 'idOrder' };
  }
  const [only] = conditions;
  if (conditions.length === 1 && only?.kind === 'set' && only.oneOf.length === 1) {
    const sets = list.sets[only.sets] as PositionSets;
    const { numberedBy } = sets;
    const [value] = only.oneOf as [string];
    if (numberedBy !== undefined && isCreationOrder(order, numberedBy))
      return { kind: 'smallSet', sets, numberedBy, value };
  }
  return planColumns(list, query);
}

/**
 * Reading columns answers every query. If several are named, the facets connect them: their summary
 * counts combinations of values, including which times a row has.
 */
export function planColumns(
  list: ListDescription,
  { conditions, order }: Pick<ListQuery, 'conditions' | 'order'>,
): ColumnsPlan {
  const named = new Set<string>();
  for (const condition of conditions) {
    if (condition.kind === 'facet') named.add('facets');
    if (condition.kind === 'range') named.add(condition.column);
    if (condition.kind === 'ids' || condition.kind === 'idPrefix') named.add('id');
  }
  if (order.kind === 'column') named.add(order.column);
  if (order.kind === 'facet') named.add('facets');
  const columns = Object.entries(list.columns).filter(([name]) => named.has(name));
  const names = columns.map(([name]) => name);
  const canSummarize =
    conditions.every(({ kind }) => kind === 'facet' || kind === 'range' || kind === 'created') &&
    columns.every(([, column]) => isSummarized(column));
  return {
    kind: 'columns',
    names,
    summaries: !canSummarize ? [] : names.length > 1 ? [...new Set([...names, 'facets'])] : names,
  };
}

/** The rows of one set are numbered as they are created. */
function isCreationOrder(order: Order, numberedBy: string): boolean {
  return order.kind === 'creation' || (order.kind === 'column' && order.column === numberedBy);
}

function isOrderById(order: Order): boolean {
  return order.kind === 'column' && order.column === 'id';
}

/**
 * Whether the rows of any page of the query follow each other in the table, whose key is the id.
 */
export function isInKeyOrder({ conditions, order }: ListQuery): boolean {
  return isOrderById(order) && conditions.every((condition) => condition.kind === 'idPrefix');
}

/** How the rows at these sequence numbers are fetched. */
type RowReads =
  /** Ranges of the index in creation order. Rows between the wanted ones are read too. */
  | { readonly kind: 'ranges'; readonly ranges: readonly Span[] }
  /** One by one by id. The ids are looked up in their column first. */
  | { readonly kind: 'ids' };

/**
 * Prices of eventually consistent reads in read units, for rows of about 0.8 KB and blocks of ids
 * of about 1 KB. A range costs the sum of its items' sizes, an item by key at least half a unit.
 */
const rangeCostPerRow = 0.1;
const rangeCostPerBlock = 0.125;
const keyCost = 0.5;
/** For each 100 rows, and at most for all: each range is a call, and all are made side by side. */
const rangesPerPage = 8;
const maxRanges = 48;
/** Reading up to this many unwanted rows costs no more than starting another range. */
const bridgedGap = 8;

/** The cheaper way to the rows at `sequence` (in any order, without duplicates). */
export function planRowReads(sequence: readonly number[], idsPerBlock: number): RowReads {
  const sorted = sequence.toSorted((a, b) => a - b);
  const ranges = spansOf(sorted, bridgedGap);
  const costById = sorted.length * keyCost + planIdBlockReads(sorted, idsPerBlock).cost;
  const first = sorted[0] ?? 0;
  const whole = { from: first, to: sorted.at(-1) ?? first };
  const wholeCost = rangeCost(whole);
  const allowed = Math.min(maxRanges, rangesPerPage * Math.ceil(sequence.length / 100));
  const splitCost = ranges.length <= allowed ? ranges.reduce((sum, range) => sum + rangeCost(range), 0) : Infinity;
  if (Math.min(wholeCost, splitCost) > costById) return { kind: 'ids' };
  return { kind: 'ranges', ranges: splitCost < wholeCost ? ranges : [whole] };
}

/**
 * How the blocks that hold the ids of these rows (ascending) are read: all from the first to the
 * last of them (`asRange`), or each by its key.
 */
export function planIdBlockReads(sorted: readonly number[], idsPerBlock: number) {
  const numbers = [...new Set(sorted.map((number) => Math.floor(number / idsPerBlock)))];
  const from = numbers[0] ?? 0;
  const to = numbers.at(-1) ?? from;
  const rangeCost = (to - from + 1) * rangeCostPerBlock;
  const keysCost = numbers.length * keyCost;
  return { numbers, from, to, asRange: rangeCost <= keysCost, cost: Math.min(rangeCost, keysCost) };
}

/** Rows further apart than this are fetched by their ids rather than in ranges. */
const sparseRows = keyCost / rangeCostPerRow + 1;

interface WantedRows {
  /** Summarized rows that may be on the page. Their segments are about to be read. */
  readonly wanted: readonly SummarizedRows[];
  /** All summarized rows, and which of the others match, ascending. */
  readonly summarized: readonly SummarizedRows[];
  readonly matching: Int32Array;
  readonly total: number;
  readonly rowsInBlocks: number;
}

/**
 * The rows whose ids to read together with the wanted segments. This saves a step, and is done if
 * the page's rows are far apart: reading only their ids afterwards would hardly cost less. In
 * creation order these are the rows around the page; in other orders all rows from the first wanted
 * one on, so only for up to some 20,000.
 */
export function planEarlyIds(list: ListDescription, query: ListQuery, rows: WantedRows): Span | undefined {
  const { wanted, total, rowsInBlocks } = rows;
  const rowsOnPage = Math.min(query.limit, total - query.offset);
  const rowsOfSegments = new Map(wanted.map(({ rows }) => [rows.from, rows.to - rows.from + 1]));
  const distance = sum(rowsOfSegments.values()) / sum(wanted.map(({ count }) => count));
  if (rowsOnPage <= rangesPerPage || distance <= sparseRows) return undefined;
  const first = Math.min(...wanted.map(({ rows }) => rows.from));
  const likely = query.order.kind === 'creation' ? likelyRows(list, query, rows) : { from: first, to: rowsInBlocks };
  const [from, to] = [Math.max(likely.from, 0), Math.min(likely.to, rowsInBlocks - 1)];
  const cost = ((to - from + 1) / (list.columns.id?.rowsPerBlock ?? 1)) * rangeCostPerBlock;
  return cost <= rowsOnPage * keyCost ? { from, to } : undefined;
}

/**
 * Where a page in creation order is if the matching rows of each segment are spread evenly, with an
 * eighth of a segment on either side. If they are spread unevenly, further ids are looked up later.
 */
function likelyRows(list: ListDescription, query: ListQuery, { summarized, matching, total }: WantedRows): Span {
  const { direction, offset, limit } = query;
  const read = Array.from(matching, (row) => ({ rows: { from: row, to: row }, count: 1 }));
  const parts = [...summarized, ...read].sort((a, b) => a.rows.from - b.rows.from);
  const rowAt = (rank: number) => {
    let before = 0;
    for (const { rows, count } of parts) {
      if (rank < before + count) return rows.from + Math.floor(((rank - before) / count) * (rows.to - rows.from + 1));
      before += count;
    }
    throw new RangeError(`No row has the rank ${rank}.`);
  };
  const [first, end] = direction === 'ASC' ? [offset, offset + limit] : [total - offset - limit, total - offset];
  const margin = list.rowsPerSegment >> 3;
  return { from: rowAt(Math.max(first, 0)) - margin, to: rowAt(Math.min(end, total) - 1) + margin };
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, number) => total + number, 0);
}

function rangeCost({ from, to }: Span): number {
  return Math.max(0.5, (to - from + 1) * rangeCostPerRow);
}
