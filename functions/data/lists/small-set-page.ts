import type { Page } from '../../values/page.ts';
import type { Row } from '../columns/column-items.ts';
import { readSets } from './column-reads.ts';
import { requireAgreement } from './columns-page.ts';
import { matchingRows } from './matching-rows.ts';
import { columnsHead, type OwnerReads } from './owner-reads.ts';
import type { ListQuery } from './query.ts';
import { rowsAt } from './row-reads.ts';
import { intersect, spanOf } from './row-set.ts';

/**
 * The page of a query whose plan is `smallSet`. Head and set are read strongly consistent, so that
 * a caller who has just created rows sees them: 2 read units, then the rows.
 */
export async function readSmallSetPage(reads: OwnerReads, query: ListQuery): Promise<Page<Row>> {
  const { list } = reads;
  const { conditions, direction, offset, limit } = query;
  const current = { ...reads, consistent: true };
  const [sets, { next_seq: rowCount }] = await Promise.all([readSets(current, conditions), columnsHead(current)]);
  const span = spanOf(intersect(sets) as Uint8Array);
  const read = span === undefined ? [] : [{ from: span.from, to: Math.min(span.to, rowCount - 1) }];
  const data = { rowCount, read, dictionaries: {}, numbers: new Map(), uuids: new Map(), sets };
  const matching = [...matchingRows(list, conditions, data)];
  const ordered = direction === 'ASC' ? matching : matching.reverse();
  const items = await rowsAt(reads, ordered.slice(offset, offset + limit), { ids: undefined, inKeyOrder: false });
  requireAgreement(list, { query, names: [], data }, items);
  return { items, total: matching.length };
}
