/**
 * The page of a list over several owners: each owner's columns are searched, then the page is
 * chosen.
 */

import { addToRequestLog } from '../../runtime/request-log.ts';
import type { Page } from '../../values/page.ts';
import type { Row } from '../columns/column-items.ts';
import { fewAtOnce } from '../dynamodb/few-at-once.ts';
import { readFurther, requireAgreement, type Search, searchAll } from './columns-page.ts';
import { type CreationTimes, readCreationTimes } from './creation-times.ts';
import { matchingRows } from './matching-rows.ts';
import { type OwnersShare, selectMerged, type Wanted } from './merged-selection.ts';
import type { OwnerReads } from './owner-reads.ts';
import { columnsOf } from './page-of-rows.ts';
import { type ColumnsPlan, type Plan, planColumns } from './plan.ts';
import type { ListQuery } from './query.ts';
import { rowsAt, rowsWithIdPrefix, rowsWithIds } from './row-reads.ts';

/** An owner whose rows are in the list: the query has the conditions on this owner's rows. */
export interface OwnerSearch {
  readonly reads: OwnerReads;
  readonly query: ListQuery;
  readonly plan: Plan;
}

/** A share that can be read further; without a search all of its rows are there. */
interface OpenShare extends OwnersShare {
  readonly of: OwnerSearch;
  readonly found?: { readonly search: Search; readonly plan: ColumnsPlan };
}

/**
 * `owners` are by their ids, ascending. Throws StaleRead as readColumnsPage does, and where a time
 * index lacks an entry.
 */
export async function readMergedPage(query: ListQuery, owners: readonly OwnerSearch[]): Promise<Page<Row>> {
  const list = owners[0]?.reads.list;
  if (list === undefined) return { items: [], total: 0 };
  let shares = await fewAtOnce(owners, startShare);
  for (let rounds = 1; ; rounds++) {
    const { page, total, wanted } = selectMerged(list, query, shares);
    if (wanted.size > 0) {
      shares = await fewAtOnce(shares, (share, at) => readMore(share, wanted.get(at)));
      continue;
    }
    addToRequestLog({ owners: owners.length, rounds });
    for (const [owner, rows] of Map.groupBy(page, (each) => each.owner)) {
      const { found, ...share } = shares[owner] as OpenShare;
      if (found)
        requireAgreement(
          list,
          { ...share, ...found },
          rows.map(({ row }) => share.rows.get(row) as Row),
        );
    }
    return { items: page.map(({ owner, row }) => shares[owner]?.rows.get(row) as Row), total };
  }
}

async function startShare(of: OwnerSearch): Promise<OpenShare> {
  const { reads, query, plan } = of;
  if (plan.kind === 'ids') return shareOfRows(of, await rowsWithIds(reads, plan.ids));
  if (plan.kind === 'idPrefix') {
    const { rows, more } = await rowsWithIdPrefix(reads, plan.prefix);
    if (!more) return shareOfRows(of, rows);
  }
  const ofColumns = plan.kind === 'columns' ? plan : planColumns(reads.list, query);
  const [{ search }, times] = await Promise.all([
    searchAll(reads, { ...query, offset: 0, limit: 0 }, ofColumns),
    readCreationTimes(reads, 'newest'),
  ]);
  const { data, summarized } = search;
  const matching = matchingRows(reads.list, query.conditions, data);
  return { of, query, data, matching, summarized, times, rows: new Map(), found: { search, plan: ofColumns } };
}

/** Of rows that are all there. */
function shareOfRows(of: OwnerSearch, candidates: readonly Row[]): OpenShare {
  const { reads, query } = of;
  const { rows, data } = columnsOf(reads.list, query, candidates);
  const matching = matchingRows(reads.list, query.conditions, data);
  return { of, query, data, matching, summarized: [], times: noTimes, rows: new Map(rows.entries()) };
}

const noTimes: CreationTimes = { rowsPerEntry: 1, first: 1, entries: [], last: 0 };

async function readMore(share: OpenShare, wanted: Wanted | undefined): Promise<OpenShare> {
  const { of, found, rows, times } = share;
  if (wanted === undefined || found === undefined) return share;
  const { search, plan } = found;
  const [read, further, fetched] = await Promise.all([
    wanted.times ? readCreationTimes(of.reads, 'all') : times,
    wanted.spans.length > 0 ? readFurther(search, wanted.spans) : search,
    rowsAt(of.reads, wanted.rows, { ids: search.data.uuids.get('id'), inKeyOrder: false }),
  ]);
  const { data, summarized } = further;
  const matching = further === search ? share.matching : matchingRows(of.reads.list, of.query.conditions, data);
  const known = new Map([...rows, ...fetched.map((row) => [row.seq, row] as const)]);
  return { ...share, data, matching, summarized, times: read, rows: known, found: { search: further, plan } };
}
