import type { Page } from '../../values/page.ts';
import { columnValue, type Row, setValues } from '../columns/column-items.ts';
import type { Dictionaries } from '../columns/facets.ts';
import type { Column, ListDescription, PositionSets } from '../columns/list-description.ts';
import { uuidAt } from '../columns/packed-uuids.ts';
import { sealableSegments } from '../columns/summary.ts';
import { tailStart } from '../columns/tail.ts';
import { dictionariesOf, openColumns, readSets, readSummaries, type SegmentSummaries } from './column-reads.ts';
import { type CreatedRows, createdRows } from './created-rows.ts';
import { evaluateSummaries, planSummaries } from './evaluate-summaries.ts';
import { StaleRead } from './join-blocks.ts';
import { type ColumnData, matchingRows } from './matching-rows.ts';
import {
  areSealed,
  firstRowRead,
  type OpenColumns,
  readNewestBlocks,
  readSpans,
  readWholeColumns,
} from './open-columns.ts';
import { columnsHead, type ListHead, type OwnerReads } from './owner-reads.ts';
import type { SummarizedRows } from './page-bounds.ts';
import { type ColumnsPlan, isInKeyOrder, planEarlyIds } from './plan.ts';
import type { Condition, ListQuery } from './query.ts';
import { readIdsEarly, rowsAt } from './row-reads.ts';
import { emptyRowSet, intersect, spanOf } from './row-set.ts';
import { countRanks, type FacetQuery, type Selection, select } from './select.ts';
import { joinSpans, overlap, type Span } from './span.ts';

/** What a page is chosen from: each row is in `data.read`, in `open` or in `summarized`. */
export interface Search {
  readonly head: ListHead;
  readonly columns: OpenColumns;
  readonly data: ColumnData;
  /** Segments whose columns must be read, because no summary says how many of their rows match. */
  readonly open: readonly Span[];
  /** The matching rows of all other segments, ascending. */
  readonly summarized: readonly SummarizedRows[];
  /** Undefined where no condition is on the time of creation. */
  readonly created: CreatedRows | undefined;
  /** The matching rows of open segments where a bound of creation lies, before it or behind. */
  readonly estimated: readonly SummarizedRows[];
}

/**
 * The page of any query: chosen in memory from the columns that the query names, then fetched. Of a
 * user with many rows, summaries say how many of the old ones match and where in the order they
 * lie. Columns are read only in the segments that the summaries leave open, and in segments that
 * may hold the page.
 */
export async function readColumnsPage(reads: OwnerReads, query: ListQuery, plan: ColumnsPlan): Promise<Page<Row>> {
  const { list } = reads;
  const { search: counted, early } = await searchAll(reads, query, plan);
  let search = counted;
  for (;;) {
    const { data, summarized } = search;
    const selection = select(list, query, data, summarized);
    if (selection.wanted.length === 0) return fetchPage(reads, { query, plan, data, selection, early });
    const rowsInBlocks = tailStart(list, search.head);
    const ids = planEarlyIds(list, query, { ...selection, summarized, rowsInBlocks });
    const rows = selection.wanted.map((each) => each.rows);
    [search] = await Promise.all([readFurther(search, rows), ids && readIdsEarly(reads, ids)]);
  }
}

/**
 * How many of the query's rows have each value of the facet that it orders by, in the facet's
 * order. Takes what a list in this order takes, without its page.
 */
export async function countColumns(
  reads: OwnerReads,
  query: FacetQuery,
  plan: ColumnsPlan,
): Promise<ReadonlyMap<number, number>> {
  const { data, summarized } = (await searchAll(reads, query, plan)).search;
  return countRanks(reads.list, query, data, summarized);
}

/** A search that knows every matching row, or how many of them each old segment has. */
export async function searchAll(
  reads: OwnerReads,
  query: ListQuery,
  plan: ColumnsPlan,
): Promise<{ readonly search: Search; readonly early: EarlyPage | undefined }> {
  const started = await startSearch(reads, query, plan);
  const [{ search, early }, within] = await Promise.all([
    started.open.length > 0 ? readOpenSegments(reads, query, started) : { search: started, early: undefined },
    started.created?.exact,
  ]);
  return { search: { ...search, data: { ...search.data, within } }, early };
}

/** Reads at once what every search needs. Only texts that have left the head come after it. */
async function startSearch(reads: OwnerReads, query: ListQuery, plan: ColumnsPlan): Promise<Search> {
  const { list } = reads;
  const { conditions } = query;
  const columns = openColumns(reads, plan.names);
  const isNarrow = namesSmallSets(list, conditions);
  const hasSummaries = !isNarrow && plan.summaries.length > 0;
  const isBounded = conditions.some(({ kind }) => kind === 'created');
  const [head, created, sets, dictionaries, summaries] = await Promise.all([
    columnsHead(reads),
    createdRows(reads, conditions),
    readSets(reads, conditions),
    dictionariesOf(reads, plan.names),
    hasSummaries ? readSummaries(reads, plan.summaries) : undefined,
    isNarrow ? undefined : hasSummaries ? readNewestBlocks(columns) : isBounded ? undefined : readWholeColumns(columns),
  ]);
  const data = { rowCount: head.next_seq, read: [], dictionaries, sets, numbers: new Map(), uuids: new Map() };
  const search = { head, columns, data, open: [], summarized: [], created, estimated: [] };
  const end = head.next_seq - 1;
  if (isNarrow) {
    // The rows of a batch lie close together: columns are read only there.
    const span = spanOf(intersect(sets) ?? emptyRowSet(0));
    return readFurther(search, span === undefined ? [] : [{ from: span.from, to: Math.min(span.to, end) }]);
  }
  const segments = summaries === undefined ? 0 : sealableSegments(list, tailStart(list, head));
  const evaluated = evaluateSegments(list, query, {
    segments,
    summaries: summaries ?? new Map(),
    changed: new Set(Array.from(head.changes.keys(), (seq) => Math.floor(seq / list.rowsPerSegment))),
    dictionaries,
    created,
  });
  const newest =
    summaries === undefined && created ? created.possible : { from: segments * list.rowsPerSegment, to: end };
  return readNewest(list, query, { ...search, ...evaluated }, newest);
}

/**
 * The search with the newest rows, and with older ones whose blocks were read together with them.
 * In creation order, a segment whose newer part was read is divided: the older part has the
 * matching rows that its summary counts, less the matching rows of the newer part.
 */
async function readNewest(list: ListDescription, query: ListQuery, search: Search, newest: Span): Promise<Search> {
  const { rowsPerSegment } = list;
  const row = firstRowRead(search.columns, search.head);
  const whole = Math.min(newest.from, Math.ceil(row / rowsPerSegment) * rowsPerSegment);
  const found = await readFurther(search, [{ from: whole, to: newest.to }]);
  const isOld = ({ from }: Span) => from < whole;
  const [open, summarized] = [found.open.filter(isOld), found.summarized];
  if (row >= whole || query.order.kind !== 'creation') return { ...found, open };
  const newer = { from: row, to: whole - 1 };
  const older = { from: whole - rowsPerSegment, to: row - 1 };
  const divided = await readFurther(found, [newer]);
  if (open.at(-1)?.from === older.from) return { ...divided, open: [...open.slice(0, -1), older] };
  const [others, ofSegment] = [
    summarized.filter(({ rows }) => rows.from !== older.from),
    summarized.filter(({ rows }) => rows.from === older.from),
  ];
  const matching = matchingRows(list, query.conditions, { ...divided.data, read: [newer] }).length;
  const left = ofSegment.reduce((sum, { count }) => sum + count, -matching);
  // What was changed since it was sealed is not what the summary counts.
  if (!areSealed(search.columns, newer) || left < 0) return { ...found, open };
  return {
    ...divided,
    open,
    summarized: left === 0 ? others : [...others, { rows: older, low: 0, high: 0, count: left }],
  };
}

interface OldSegments {
  readonly segments: number;
  readonly summaries: SegmentSummaries;
  /** Segments whose summaries do not count all changes. */
  readonly changed: ReadonlySet<number>;
  readonly dictionaries: Dictionaries;
  readonly created: CreatedRows | undefined;
}

/** What the summaries say of the old segments, and which of these they leave open. */
function evaluateSegments(
  list: ListDescription,
  query: ListQuery,
  { segments, summaries, changed, dictionaries, created }: OldSegments,
): Pick<Search, 'open' | 'summarized' | 'estimated'> {
  const plan = planSummaries(list, query, dictionaries);
  const open: Span[] = [];
  const summarized: SummarizedRows[] = [];
  const estimated: SummarizedRows[] = [];
  for (let segment = 0; segment < segments; segment++) {
    const rows = { from: segment * list.rowsPerSegment, to: (segment + 1) * list.rowsPerSegment - 1 };
    const { possible, certain } = created ?? { possible: rows, certain: rows };
    if (rows.to < possible.from || rows.from > possible.to) continue;
    const isWhole = certain.from <= rows.from && rows.to <= certain.to;
    const known = changed.has(segment) ? undefined : summaries.get(segment);
    const ofSegment = evaluateSummaries(plan, known ?? new Map(), rows);
    if (ofSegment !== undefined && (isWhole || ofSegment.length === 0)) summarized.push(...ofSegment);
    else {
      open.push(rows);
      estimated.push(...(ofSegment ?? []));
    }
  }
  return { open, summarized, estimated };
}

/** A page whose rows were fetched before all columns that the total needs were read. */
interface EarlyPage {
  readonly sequence: readonly number[];
  readonly items: readonly Row[];
}

/**
 * Reads the open segments. In creation order the page is often before all of them. Then it is
 * certain what it needs there, further segments or the rows themselves, and this is read at the
 * same time. If the page begins at a bound of creation, the segments and ids that it is likely to
 * need are read.
 */
async function readOpenSegments(
  reads: OwnerReads,
  query: ListQuery,
  search: Search,
): Promise<{ search: Search; early: EarlyPage | undefined }> {
  const { wanted, sequence } = selectBeforeOpen(reads.list, query, search);
  const likely = planLikelyRows(reads.list, query, search);
  const isLikely = ({ rows }: SummarizedRows) => likely && rows.from <= likely.to && likely.from <= rows.to;
  const further = [...wanted, ...search.summarized.filter(isLikely)].map(({ rows }) => rows);
  const [found, items] = await Promise.all([
    readFurther({ ...search, open: [] }, [...search.open, ...further]),
    rowsAt(reads, sequence, { ids: undefined, inKeyOrder: false }),
    likely && readIdsEarly(reads, likely),
  ]);
  return { search: found, early: { sequence, items } };
}

/** Where a page of rows that are far apart is, if it begins at a bound of creation. */
function planLikelyRows(list: ListDescription, query: ListQuery, search: Search): Span | undefined {
  const { head, data, open, summarized, created } = search;
  if (query.order.kind !== 'creation' || created === undefined || isBegun(query, created)) return undefined;
  const within = { ...data, within: created.possible };
  const estimated = search.estimated.flatMap((each) => {
    const unread = open.filter(({ from }) => from === each.rows.from).map((span) => overlap(span, created.possible));
    const ofRow = each.count / list.rowsPerSegment;
    return unread.map((rows) => ({ ...each, rows, count: Math.ceil(Math.max(rows.to - rows.from + 1, 0) * ofRow) }));
  });
  if (estimated.length === 0) return undefined;
  const parts = [...summarized, ...estimated];
  const { total, matching } = select(list, { ...query, limit: 0 }, within, parts);
  const rowsInBlocks = tailStart(list, head);
  return planEarlyIds(list, query, { wanted: estimated, summarized: parts, matching, total, rowsInBlocks });
}

/** Whether the row at which pages in creation order begin is known exactly. */
function isBegun({ direction }: ListQuery, created: CreatedRows | undefined): boolean {
  const side = direction === 'ASC' ? 'from' : 'to';
  return created === undefined || created.possible[side] === created.certain[side];
}

/**
 * The part of a selection that holds whatever the open segments contain: what comes before them in
 * the order. So all of their rows may count as matching ones. Nothing is certain unless the bound
 * of creation at which the page begins is known exactly.
 */
function selectBeforeOpen(
  list: ListDescription,
  query: ListQuery,
  { summarized, open, data, created }: Search,
): Pick<Selection, 'wanted' | 'sequence'> {
  if (query.order.kind !== 'creation' || !isBegun(query, created)) return { wanted: [], sequence: [] };
  const [first, last] = [open.at(0)?.from ?? 0, open.at(-1)?.to ?? 0];
  const isBefore = (span: Span) => (query.direction === 'ASC' ? span.to < first : span.from > last);
  const all = open.map((rows) => ({ rows, low: 0, high: 0, count: rows.to - rows.from + 1 }));
  const ascending = [...summarized, ...all].sort((a, b) => a.rows.from - b.rows.from);
  const { wanted, sequence } = select(list, query, { ...data, within: created?.possible }, ascending);
  const isCertain = sequence.every((row) => isBefore({ from: row, to: row }));
  return { wanted: wanted.filter(({ rows }) => isBefore(rows)), sequence: isCertain ? sequence : [] };
}

/**
 * The search with the columns of these rows as well. Reads only blocks that were not read before.
 */
export async function readFurther(search: Search, spans: readonly Span[]): Promise<Search> {
  const { head, columns, data, summarized } = search;
  const further = joinSpans(spans);
  const isRead = ({ rows }: SummarizedRows) => further.some(({ from, to }) => from <= rows.from && rows.to <= to);
  return {
    ...search,
    data: { ...data, ...(await readSpans(columns, head, further)), read: joinSpans([...data.read, ...further]) },
    summarized: summarized.filter((each) => !isRead(each)),
  };
}

interface FoundPage {
  readonly query: ListQuery;
  readonly plan: ColumnsPlan;
  readonly data: ColumnData;
  readonly selection: Selection;
  readonly early: EarlyPage | undefined;
}

/** Fetches the rows of the page, unless they are there, and checks that columns and sets agree. */
async function fetchPage(reads: OwnerReads, { query, plan, data, selection, early }: FoundPage): Promise<Page<Row>> {
  const { list } = reads;
  const { sequence, total } = selection;
  const isEarly = early !== undefined && early.sequence.join() === sequence.join();
  const items = isEarly
    ? early.items
    : await rowsAt(reads, sequence, { ids: data.uuids.get('id'), inKeyOrder: isInKeyOrder(query) });
  requireAgreement(list, { query, plan, data }, items);
  return { items, total };
}

/** Throws StaleRead where a row contradicts the columns and sets that chose it. */
export function requireAgreement(
  list: ListDescription,
  { query, plan, data }: Pick<FoundPage, 'query' | 'plan' | 'data'>,
  rows: readonly Row[],
): void {
  const described = plan.names.map((name) => [name, list.columns[name] as Column] as const);
  for (const row of rows) {
    requireColumns(row, described, data);
    requireSets(list, row, query.conditions);
  }
}

/** Whether a condition names sets of few rows, such as the jobs of a batch. */
function namesSmallSets(list: ListDescription, conditions: readonly Condition[]): boolean {
  return conditions.some(
    (condition) => condition.kind === 'set' && list.sets[condition.sets]?.numberedBy !== undefined,
  );
}

/**
 * Throws StaleRead when the row contradicts the columns that chose it: a write has changed it since
 * they were read, or an index still holds it as it was.
 */
function requireColumns(row: Row, columns: readonly (readonly [string, Column])[], data: ColumnData) {
  for (const [name, column] of columns) {
    const value = columnValue(column, row, data.dictionaries);
    const uuids = data.uuids.get(name);
    const read = uuids === undefined ? data.numbers.get(name)?.[row.seq] : uuidAt(uuids, row.seq);
    if (value !== (Number.isNaN(read) ? null : read)) throw new StaleRead(`A row has another ${name} than its column.`);
  }
}

/** Throws StaleRead when the row is not, or no longer, in a set that chose it. */
function requireSets(list: ListDescription, row: Row, conditions: readonly Condition[]) {
  for (const condition of conditions) {
    if (condition.kind !== 'set') continue;
    const values = setValues(list.sets[condition.sets] as PositionSets, row);
    if (!condition.oneOf.some((value) => values.has(value)))
      throw new StaleRead(`A row is not in its ${condition.sets}.`);
  }
}
