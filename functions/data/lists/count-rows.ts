import { retry } from '../dynamodb/retry.ts';
import { readColumnsPage } from './columns-page.ts';
import { StaleRead } from './join-blocks.ts';
import { type ListSource, ownerReads } from './owner-reads.ts';
import { planColumns } from './plan.ts';
import type { Condition, ListQuery } from './query.ts';

/**
 * The function that counts a user's rows that meet these conditions, strongly consistent: of rows
 * that existed when it was called, none is missed. Twice the read units of a filtered list
 * (reader.ts), without its page.
 */
export function countRows(source: ListSource): (userId: string, conditions: readonly Condition[]) => Promise<number> {
  return async (userId, conditions) => {
    const query: ListQuery = { conditions, order: { kind: 'creation' }, direction: 'ASC', offset: 0, limit: 0 };
    const plan = planColumns(source.list, query);
    const page = await retry(() => readColumnsPage(ownerReads(source, userId, true), query, plan), {
      attempts: 5,
      firstMilliseconds: 40,
      maxDelayMilliseconds: 320,
      mayPass: (error) => error instanceof StaleRead,
      message: 'The rows of the user changed while they were counted, through all attempts.',
    });
    return page.total;
  };
}
