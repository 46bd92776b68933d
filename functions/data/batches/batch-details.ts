import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Batch, BatchDetails } from '../../schemas/batch.ts';
import type { Job } from '../../schemas/job.ts';
import type { TableNames } from '../../tables.ts';
import { type OwnerLists, ownerLists } from '../columns/lists.ts';
import { retry } from '../dynamodb/retry.ts';
import { StaleRead } from '../lists/join-blocks.ts';
import { ownerReads } from '../lists/owner-reads.ts';
import { rowsWithIds } from '../lists/row-reads.ts';
import { getBatch } from '../rows/batches.ts';
import { jobOf, listJobIds, listJobs } from '../rows/jobs.ts';
import { getSequence } from '../rows/sequences.ts';

/** A batch shows its jobs up to this number: as many as a page of the list of jobs. */
export const maxJobsShown = 100;

const maxAttempts = 4;

/**
 * The function that reads a batch with its sequence, the ids of all its jobs and, where they are at
 * most 100, the jobs; undefined when the user has no such batch. A caller that has just written the
 * batch or its jobs sees them: the jobs are first read from an index, and again by their ids,
 * strongly consistent, where the index lags behind the batch's own counts. Batch and jobs are of
 * one moment: where jobs changed between both reads, all is read again, up to three times.
 *
 * Read units for rows and a sequence up to 4 KB: 3, and 0.1 for each KB of jobs; beyond 100 jobs
 * as many as listJobIds takes besides.
 */
export function getBatchDetails(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns' | 'Sequences'>,
  lists: OwnerLists = ownerLists,
): (userId: string, batchId: string) => Promise<BatchDetails | undefined> {
  const batchOf = getBatch(client, tables);
  const sequenceOf = getSequence(client, tables);
  const jobsOf = listJobs(client, tables, lists);
  const idsOf = listJobIds(client, tables, lists);
  return (userId, batchId) => {
    let left = maxAttempts;
    return retry(() => read(userId, batchId, --left), {
      attempts: maxAttempts,
      firstMilliseconds: 40,
      maxDelayMilliseconds: 320,
      mayPass: (error) => error instanceof StaleRead,
      message: 'The jobs of this batch changed while they were read, through all attempts.',
    });
  };

  async function read(userId: string, batchId: string, attemptsLeft: number): Promise<BatchDetails | undefined> {
    const page = { limit: maxJobsShown, offset: 0, order_by: 'creation_order', order_by_direction: 'ASC' } as const;
    const [batch, sequence_builder, { items, total }] = await Promise.all([
      batchOf(userId, batchId),
      sequenceOf(userId, batchId),
      jobsOf(userId, { ...page, batch_id: [batchId] }),
    ]);
    if (batch === undefined) return undefined;
    if (total !== batch.jobs_count) throw new StaleRead('The number of jobs changed.');
    if (total > maxJobsShown) {
      const job_ids = await idsOf(userId, batchId);
      if (job_ids.length !== total) throw new StaleRead('The number of jobs changed.');
      return { ...batch, sequence_builder, job_ids };
    }
    const jobs = countsAgree(batch, items) ? [...items] : await readAgain(userId, items);
    // A client that sees every job ended must not see a batch that waits. Rows that never agree are
    // damaged, and are shown as they are.
    if (attemptsLeft > 0 && !countsAgree(batch, jobs)) throw new StaleRead('The jobs changed.');
    return { ...batch, sequence_builder, job_ids: jobs.map(({ id }) => id), jobs };
  }

  async function readAgain(userId: string, jobs: readonly Job[]): Promise<Job[]> {
    const reads = ownerReads({ client, tables, list: lists.job }, userId, true);
    const rows = await rowsWithIds(
      reads,
      jobs.map(({ id }) => id),
    );
    const again = rows.map(jobOf);
    return again.sort((a, b) => a.creation_order - b.creation_order);
  }
}

/** Whether the jobs are as many in each status as their batch counts. */
export function countsAgree({ jobs_count_per_status }: Batch, jobs: readonly Pick<Job, 'status'>[]): boolean {
  const counts = Map.groupBy(jobs, ({ status }) => status);
  return Object.entries(jobs_count_per_status).every(
    ([status, count]) => (counts.get(status as Job['status'])?.length ?? 0) === count,
  );
}
