import { addToRequestLog, countInRequestLog } from '../../runtime/request-log.ts';
import type { Page } from '../../values/page.ts';
import type { Row } from '../columns/column-items.ts';
import { facetColumn, type ListDescription } from '../columns/list-description.ts';
import type { Db } from '../dynamodb/db.ts';
import { retry } from '../dynamodb/retry.ts';
import { countColumns, readColumnsPage } from './columns-page.ts';
import { createdRows } from './created-rows.ts';
import { StaleRead } from './join-blocks.ts';
import { facetValues } from './matching-rows.ts';
import { readMergedPage } from './merged-page.ts';
import { type OwnerReads, ownerReads, type TablesOfList } from './owner-reads.ts';
import { countsOfRows, pageOfRows } from './page-of-rows.ts';
import { type Plan, planColumns, planQuery } from './plan.ts';
import type { Condition, ListQuery } from './query.ts';
import {
  allRows,
  newestIds,
  type PlacedRows,
  rowsInIdOrder,
  rowsWithIdPrefix,
  rowsWithIds,
  rowsWithin,
} from './row-reads.ts';
import type { FacetQuery } from './select.ts';
import { readSmallSetPage } from './small-set-page.ts';

/**
 * The one engine of both lists: answers any query about an owner's rows with the page and the exact
 * total.
 *
 * The first attempt uses eventually consistent reads (half the price), except for which jobs a
 * batch has. What is read is checked against itself:
 *
 * - a column must reach to the last row;
 * - every row of the page must be there, and agree with the columns and sets that chose it.
 *
 * Otherwise everything is read again, strongly consistent, with rows by id from the table. After
 * five attempts TooBusy is thrown; only unending writes to the page itself bring that about. A page
 * is never served short and never holds a row that contradicts the query. OutdatedColumns is thrown
 * where columns of another format would have to be read.
 *
 * Cost at N rows, in read units:
 *
 * - a page in creation order: 0.5 and the page itself, at any offset;
 * - a page of one batch's jobs in creation order: 2 and the page itself, in two calls one after the
 *   other;
 * - for each bound of the time of creation: 0.5, and 33 rows around it;
 * - a page by id, up to the 1,000th row: 0.5 and all rows up to its end;
 * - other pages: the page (half a unit a row, less where the rows lie close together), and for each
 *   column that the query names the values of the newest rows, 2,300 to 6,900 of them, and of those
 *   segments of 4,608 old rows that may hold the page or straddle a bound (at most 7 bytes a row);
 *   and a summary of each older segment (80 bytes for times, 0.7 to 1.3 KB for the others).
 *   Segments that are not sealed are read whole, with some of those between them if they are many.
 *   So are those whose facets have more than 1,024 different codes, for conditions on facets and
 *   orders by them. All columns are read whole for a filter on a tag and for orders by ids (16
 *   bytes a row);
 * - where facets are named, also the texts that have left the head: 21 for 4,096 projects.
 *
 * Sequential calls: 1 to 3 where the newest 6,900 rows hold the page, otherwise up to 4. They are
 * for head, newest values and summaries; for the segments that hold the page; for the ids of rows
 * that lie far apart; for the rows. In creation order the third is made together with the second,
 * in other orders up to some 20,000 rows. One more where a column takes more than 1 MB, and one
 * more for such texts. The rows around a bound of creation are read beside the segments; a page in
 * creation order takes three calls then.
 */
export function readList<List extends ListDescription>(
  db: Db<TablesOfList<List>>,
  list: List,
  userId: string,
  query: ListQuery,
): Promise<Page<Row>> {
  return readChecked(db, { list, userId, query }, readPage);
}

/** An owner of a list that has several: the conditions are on this owner's rows. */
export interface ListOwner {
  readonly userId: string;
  readonly conditions: readonly Condition[];
}

/**
 * As readList, over the rows of several owners, by their ids ascending: exact for each owner as of
 * the moment when it is read. Rows of equal values are in the order of their creation, then of
 * their owners.
 *
 * Cost, for each owner: what a page in another order than creation's costs, without its rows; one
 * read unit for times of creation, and 2.5 for each 10,000 rows where the page is not among the
 * newest; of each end of the page that is in doubt up to 32 rows. Filters by ids and prefixes cost
 * what they cost for one owner. Sequential calls: one to two more than for one owner.
 */
export function readMergedList<List extends ListDescription>(
  db: Db<TablesOfList<List>>,
  list: List,
  owners: readonly ListOwner[],
  query: ListQuery,
): Promise<Page<Row>> {
  return retryStale(db, (consistent) =>
    readMergedPage(
      query,
      owners.map(({ userId, conditions }) => {
        const ofOwner = { ...query, conditions: [...query.conditions, ...conditions] };
        const reads = ownerReads(db, { list, userId, consistent });
        return { reads, query: ofOwner, plan: planQuery(list, ofOwner) };
      }),
    ),
  );
}

/** How many rows of a list have each value of a facet, by the text of the value, zeros included. */
export type Counts = Readonly<Record<string, number>>;

/**
 * Counts an owner's rows that meet the conditions, by the values of a facet with known values: each
 * row once, as it was when its column was read. Guarantees: see readList. Costs what a page in the
 * order of the facet costs, without the page's rows.
 */
export async function countByFacet<List extends ListDescription>(
  db: Db<TablesOfList<List>>,
  list: List,
  userId: string,
  { conditions, facet }: { readonly conditions: readonly Condition[]; readonly facet: string },
): Promise<Counts> {
  const values = facetValues(facetColumn(list), facet, {});
  const order = { kind: 'facet', facet } as const;
  const query: FacetQuery = { conditions, order, direction: 'ASC', offset: 0, limit: 0 };
  const counts = await readChecked(db, { list, userId, query }, countMatching);
  return Object.fromEntries(values.map((value, rank) => [String(value), counts.get(rank) ?? 0]));
}

interface ListRead<List extends ListDescription, Query extends ListQuery> {
  readonly list: List;
  readonly userId: string;
  readonly query: Query;
}

/** Reads, and reads again as readList describes if the reads contradict each other. */
async function readChecked<List extends ListDescription, Query extends ListQuery, Result>(
  db: Db<TablesOfList<List>>,
  { list, userId, query }: ListRead<List, Query>,
  read: (reads: OwnerReads, query: Query, plan: Plan) => Promise<Result>,
): Promise<Result> {
  const plan = planQuery(list, query);
  addToRequestLog({ plan: plan.kind });
  // Indexes have no consistent reads.
  const usesIndex = plan.kind === 'sequence' || plan.kind === 'smallSet';
  const planAgain = usesIndex ? planColumns(list, query) : plan;
  return retryStale(db, (consistent) =>
    read(ownerReads(db, { list, userId, consistent }), query, consistent ? planAgain : plan),
  );
}

async function retryStale<Result>(
  { clock }: Pick<Db<never>, 'clock'>,
  read: (consistent: boolean) => Promise<Result>,
): Promise<Result> {
  try {
    return await read(false);
  } catch (error) {
    if (!isStale(error)) throw error;
  }
  return retry(clock, () => read(true), {
    attempts: 4,
    firstMilliseconds: 80,
    maxDelayMilliseconds: 320,
    mayPass: isStale,
    message: 'The rows changed while they were read, through all attempts.',
  });
}

function isStale(error: unknown): boolean {
  if (!(error instanceof StaleRead)) return false;
  countInRequestLog({ stale_reads: 1 });
  return true;
}

async function readPage(reads: OwnerReads, query: ListQuery, plan: Plan): Promise<Page<Row>> {
  const { list } = reads;
  switch (plan.kind) {
    case 'ids':
      return pageOfRows(list, query, await rowsWithIds(reads, plan.ids));
    case 'idPrefix': {
      const { rows, more } = await rowsWithIdPrefix(reads, plan.prefix);
      if (more) return readColumnsPage(reads, query, planColumns(list, query));
      return pageOfRows(list, query, rows);
    }
    case 'idOrder':
      return readIdOrderPage(reads, query);
    case 'sequence':
      return readPlacesPage(query, await rowsInSequence(reads, query));
    case 'smallSet':
      return readSmallSetPage(reads, query, plan);
    case 'columns':
      return readColumnsPage(reads, query, plan);
  }
}

/** In the order of a facet no rows follow each other in an index. */
async function countMatching(reads: OwnerReads, query: FacetQuery, plan: Plan): Promise<ReadonlyMap<number, number>> {
  const { list } = reads;
  if (plan.kind === 'ids') return countsOfRows(list, query, await rowsWithIds(reads, plan.ids));
  if (plan.kind === 'idPrefix') {
    const { rows, more } = await rowsWithIdPrefix(reads, plan.prefix);
    if (!more) return countsOfRows(list, query, rows);
  }
  return countColumns(reads, query, plan.kind === 'columns' ? plan : planColumns(list, query));
}

/** All rows, or the rows that were created within the query's bounds. */
async function rowsInSequence(reads: OwnerReads, { conditions }: ListQuery): Promise<PlacedRows> {
  const created = await createdRows(reads, conditions);
  return created === undefined ? allRows(reads) : rowsWithin(allRows(reads), await created.exact);
}

/**
 * The page where its order is that of the places. With 10 rows, offset 2 and limit 3:
 *
 *   place   0  1  2  3  4  5  6  7  8  9
 *   ASC          [2  3  4]                  the page is 2, 3, 4
 *   DESC                  [5  6  7]         the page is 7, 6, 5
 *
 * An ascending page, and the newest rows, are known before the total is: both are read at once.
 */
async function readPlacesPage({ offset, limit, direction }: ListQuery, rows: PlacedRows): Promise<Page<Row>> {
  const isAscending = direction === 'ASC';
  let reading: Promise<Row[]> | undefined;
  if (isAscending) reading = rows.between(offset, offset + limit - 1);
  else if (offset === 0) reading = rows.last(limit);
  const [total, found] = await Promise.all([rows.count(), reading]);
  const first = isAscending ? offset : Math.max(total - offset - limit, 0);
  const last = Math.min(isAscending ? offset + limit : total - offset, total) - 1;
  const items = (found ?? (await rows.between(first, last)))
    // Rows beyond the total are newer than it. An index that lacks the newest rows gives older ones
    // instead.
    .filter((row) => rows.placeOf(row) >= first && rows.placeOf(row) <= last)
    .sort((a, b) => rows.placeOf(a) - rows.placeOf(b));
  // An index that lags behind a repair may have two rows at one place.
  const isComplete = items.length === Math.max(last - first + 1, 0);
  if (!isComplete || items.some((row, at) => rows.placeOf(row) !== first + at))
    throw new StaleRead('A row of the page is missing.');
  return { items: isAscending ? items : items.reverse(), total };
}

/**
 * The page of all rows by id. The total is read first, so that newer rows are known by their
 * numbers; read later, it might count rows that the page lacks. The ids of the newest rows show
 * whether the table's answer lags.
 */
async function readIdOrderPage(reads: OwnerReads, { offset, limit, direction }: ListQuery): Promise<Page<Row>> {
  const total = await allRows(reads).count();
  const end = Math.min(offset + limit, total);
  if (offset >= end) return { items: [], total };
  const rows = await rowsInIdOrder(reads, direction, end);
  const counted = rows.filter((row) => row.seq < total);
  if (counted.length < end) throw new StaleRead('A row of the page is missing.');
  const found = new Set(rows.map(({ id }) => id));
  const last = String(counted.at(-1)?.id);
  const isPassed = (id: string) => (direction === 'ASC' ? id < last : id > last);
  if ((await newestIds(reads)).some((id) => isPassed(id) && !found.has(id)))
    throw new StaleRead('A new row is missing.');
  return { items: counted.slice(offset), total };
}
