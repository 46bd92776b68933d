import type { ListDescription } from '../columns/list-description.ts';
import type { Db } from '../dynamodb/db.ts';
import { retry } from '../dynamodb/retry.ts';
import { readColumnsPage } from './columns-page.ts';
import { StaleRead } from './join-blocks.ts';
import { ownerReads, type TablesOfList } from './owner-reads.ts';
import { planColumns } from './plan.ts';
import type { Condition, ListQuery } from './query.ts';

/**
 * Counts a user's rows that meet these conditions, strongly consistent: it misses no row that
 * existed when it was called. Twice the read units of a filtered list (reader.ts), without its
 * page.
 */
export async function countRows(
  db: Db<'Columns'>,
  list: ListDescription,
  userId: string,
  conditions: readonly Condition[],
): Promise<number> {
  const query: ListQuery = { conditions, order: { kind: 'creation' }, direction: 'ASC', offset: 0, limit: 0 };
  const plan = planColumns(list, query);
  // A page of no rows names no other table.
  const columns = db as Db<TablesOfList<ListDescription>>;
  const count = () => readColumnsPage(ownerReads(columns, { list, userId, consistent: true }), query, plan);
  const page = await retry(db.clock, count, {
    attempts: 5,
    firstMilliseconds: 40,
    maxDelayMilliseconds: 320,
    mayPass: (error) => error instanceof StaleRead,
    message: 'The rows of the user changed while they were counted, through all attempts.',
  });
  return page.total;
}
