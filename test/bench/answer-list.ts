import type { Db } from '../../functions/data/dynamodb/db.ts';
import { countBatches, listBatches } from '../../functions/data/rows/batches.ts';
import { countJobs, listJobs } from '../../functions/data/rows/jobs.ts';
import type { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import type { JobListQuery } from '../../functions/schemas/job-list-query.ts';
import type { TableName } from '../../functions/tables.ts';
import { withoutRole } from '../support/without-role.ts';

export type ListName = 'batches' | 'jobs';
export type ListQuery = BatchListQuery | JobListQuery;

export interface ListAnswer {
  /** Of the page; none with `count_by`. */
  readonly ids: readonly unknown[];
  /** Rows that match. */
  readonly total: number;
  /** With `count_by`: the matching rows of each value, also where there are none. */
  readonly counts?: Readonly<Record<string, number>>;
}

const lists = { batches: listBatches, jobs: listJobs };
const countings = { batches: countBatches, jobs: countJobs };

/** What the service answers to a user's query. */
export async function answerList(
  db: Db<TableName>,
  userId: string,
  list: ListName,
  query: ListQuery,
): Promise<ListAnswer> {
  const caller = withoutRole(userId);
  if (query.count_by !== undefined) return answerOfCounts(await countings[list](db, caller, query as never));
  const { items, total } = await lists[list](db, caller, query as never);
  return { ids: items.map(({ id }) => id), total };
}

export function answerOfCounts(counts: Readonly<Record<string, number>>): ListAnswer {
  return { ids: [], total: Object.values(counts).reduce((sum, count) => sum + count, 0), counts };
}
