import { JobRow } from '../../schemas/job.ts';
import type { CancelJobsQuery, RebatchQuery } from '../../schemas/job-selection.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import type { Db } from '../dynamodb/db.ts';
import { batchGet } from '../dynamodb/reads.ts';
import type { BatchOfUser } from '../rows/batches.ts';
import { listJobIds } from '../rows/jobs.ts';

interface SelectedJobs {
  /** In creation order. */
  readonly jobs: readonly JobRow[];
  /** Ids that the query names and the batch does not have. */
  readonly unknown: readonly string[];
}

/**
 * The jobs of a batch that a query selects; the query's times are times of creation. Strongly
 * consistent.
 *
 * Read units: one for each 4 KB of each job that the query names by its id. Without ids, one for
 * each 4 KB of each selected job, and what listJobIds takes.
 */
export async function selectJobs(
  db: Db<'Jobs' | 'Columns'>,
  of: BatchOfUser,
  query: CancelJobsQuery | RebatchQuery,
): Promise<SelectedJobs> {
  const { userId, batchId } = of;
  const wanted = new Set<string>(query.id ?? (await listJobIds(db, of, query)));
  const keys = Array.from(wanted, (id) => ({ user_id: userId, id }));
  const items = await batchGet(db, { table: 'Jobs', keys, consistent: true });
  const rows = items.map((item) => storedRow(JobRow(), item)).filter(({ batch_id }) => batch_id === batchId);
  const jobs = rows.filter((job) => matches(job, query)).sort((a, b) => a.creation_order - b.creation_order);
  return { jobs, unknown: [...wanted.difference(new Set(rows.map(({ id }) => id)))] };
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
