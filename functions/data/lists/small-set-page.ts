import type { Page } from '../../values/page.ts';
import { columnValue, type Row, setValues } from '../columns/column-items.ts';
import { requireFormat } from '../columns/head.ts';
import { readSetPositions } from './column-reads.ts';
import { StaleRead } from './join-blocks.ts';
import { columnNamed, type OwnerReads, readHead } from './owner-reads.ts';
import type { SmallSetPlan } from './plan.ts';
import type { ListQuery } from './query.ts';
import { rowsAt } from './row-reads.ts';

/**
 * The page of one small set in creation order. Head and set are read strongly consistent, so that a
 * caller who has just created rows sees them: 2 read units, then the rows. Throws StaleRead when a
 * row is not in the set, or at another place of it.
 */
export async function readSmallSetPage(
  reads: OwnerReads,
  { direction, offset, limit }: ListQuery,
  { sets, numberedBy, value }: SmallSetPlan,
): Promise<Page<Row>> {
  const current = { ...reads, consistent: true };
  const [positions, head] = await Promise.all([readSetPositions(current, sets, value), readHead(current)]);
  // Changes beside the head are of columns: it does not matter here how long they took to read.
  requireFormat(reads.list, head);
  // Rows that were created since the head was read are in the set already.
  const known = positions.filter((position) => position < head.next_seq);
  const total = known.length;
  const ordered = direction === 'ASC' ? known : known.reverse();
  const items = await rowsAt(reads, ordered.slice(offset, offset + limit), { ids: undefined, inKeyOrder: false });
  const number = columnNamed(reads, numberedBy);
  for (const [at, row] of items.entries()) {
    const place = direction === 'ASC' ? offset + at : total - 1 - offset - at;
    if (!setValues(sets, row).has(value) || columnValue(number, row, {}) !== place)
      throw new StaleRead('A row is at another place of its set.');
  }
  return { items, total };
}
