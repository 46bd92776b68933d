import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { JobRow } from '../schemas/job.ts';
import type { CancelJobsQuery, RebatchQuery } from '../schemas/job-selection.ts';
import type { TableNames } from '../tables.ts';
import { type OwnerLists, ownerLists } from './columns/lists.ts';
import { batchGet } from './dynamodb/reads.ts';
import { storedRow } from './dynamodb/stored-row.ts';
import { listJobIds } from './jobs.ts';

export interface SelectedJobs {
  /** In creation order. */
  readonly jobs: readonly JobRow[];
  /** Ids that the query names and the batch does not have. */
  readonly unknown: readonly string[];
}

/**
 * The function that reads the jobs of a batch that a query selects; its times are of creation.
 * Strongly consistent. Read units: one for each 4 KB of each job that the query names by its id;
 * without ids, of each that it selects, and what listJobIds takes.
 */
export function selectJobs(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Jobs' | 'Columns'>,
  lists: OwnerLists = ownerLists,
): (userId: string, batchId: string, query: CancelJobsQuery | RebatchQuery) => Promise<SelectedJobs> {
  const idsOf = listJobIds(client, tables, lists);
  return async (userId, batchId, query) => {
    const wanted = new Set<string>(query.id ?? (await idsOf(userId, batchId, query)));
    const keys = Array.from(wanted, (id) => ({ user_id: userId, id }));
    const items = await batchGet(client, { table: tables.Jobs, keys, consistent: true });
    const rows = items.map((item) => storedRow(JobRow, item)).filter(({ batch_id }) => batch_id === batchId);
    const jobs = rows.filter((job) => matches(job, query)).sort((a, b) => a.creation_order - b.creation_order);
    return { jobs, unknown: [...wanted.difference(new Set(rows.map(({ id }) => id)))] };
  };
}

function matches(job: JobRow, query: CancelJobsQuery & Pick<RebatchQuery, 'status'>): boolean {
  const { min_runs, max_runs, start_date, end_date, status } = query;
  const { runs, created_at } = job;
  return (
    (min_runs === undefined || (runs !== null && runs >= min_runs)) &&
    (max_runs === undefined || (runs !== null && runs <= max_runs)) &&
    (start_date === undefined || created_at >= start_date) &&
    (end_date === undefined || created_at <= end_date) &&
    (status === undefined || status.includes(job.status))
  );
}
