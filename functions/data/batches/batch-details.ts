import type { Batch, BatchDetails } from '../../schemas/batch.ts';
import type { Job } from '../../schemas/job.ts';
import { formatsOf } from '../columns/lists.ts';
import type { Db } from '../dynamodb/db.ts';
import { retry } from '../dynamodb/retry.ts';
import { StaleRead } from '../lists/join-blocks.ts';
import { ownerReads } from '../lists/owner-reads.ts';
import { rowsWithIds } from '../lists/row-reads.ts';
import { type BatchOfUser, getBatch } from '../rows/batches.ts';
import { listJobIds, listJobsOfBatch, showJobs } from '../rows/jobs.ts';
import { getSequence } from '../rows/sequences.ts';

/** A batch shows its jobs up to this number: as many as a page of the list of jobs. */
export const maxJobsShown = 100;

const maxAttempts = 4;

type DetailsDb = Db<'Batches' | 'Jobs' | 'Columns' | 'Sequences'>;

/**
 * A batch with its sequence, the ids of all its jobs and, if they are at most 100, the jobs.
 * Undefined when the user has no such batch.
 *
 * A caller that has just written the batch or its jobs sees them: if their rows lag behind the
 * batch's own counts, the jobs are read again by their ids, strongly consistent. Batch and jobs are
 * of one moment: if jobs changed between the two reads, everything is read again, up to three
 * times.
 *
 * Read units for rows and a sequence up to 4 KB: 4, and 0.1 for each KB of jobs. Beyond 100 jobs,
 * also what listJobIds takes; for long constants, what withConstants takes.
 */
export function getBatchDetails(db: DetailsDb, userId: string, batchId: string): Promise<BatchDetails | undefined> {
  let left = maxAttempts;
  return retry(db.clock, () => readDetails(db, { userId, batchId }, --left), {
    attempts: maxAttempts,
    firstMilliseconds: 40,
    maxDelayMilliseconds: 320,
    mayPass: (error) => error instanceof StaleRead,
    message: 'The jobs of this batch changed while they were read, through all attempts.',
  });
}

async function readDetails(db: DetailsDb, of: BatchOfUser, attemptsLeft: number): Promise<BatchDetails | undefined> {
  const { userId, batchId } = of;
  const [batch, sequence_builder, { items, total }] = await Promise.all([
    getBatch(db, userId, batchId),
    getSequence(db, userId, batchId),
    listJobsOfBatch(db, of, maxJobsShown),
  ]);
  if (batch === undefined) return undefined;
  if (total !== batch.jobs_count) throw new StaleRead('The number of jobs changed.');
  if (total > maxJobsShown) {
    const job_ids = await listJobIds(db, of);
    if (job_ids.length !== total) throw new StaleRead('The number of jobs changed.');
    return { ...batch, sequence_builder, job_ids };
  }
  const jobs = countsAgree(batch, items) ? [...items] : await readAgain(db, userId, items);
  // A client that sees every job ended must not see a batch that waits. Statuses that never
  // agree are damaged, and are shown as they are.
  if (attemptsLeft > 0 && !countsAgree(batch, jobs)) throw new StaleRead('The jobs changed.');
  return { ...batch, sequence_builder, job_ids: jobs.map(({ id }) => id), jobs };
}

async function readAgain(db: DetailsDb, userId: string, jobs: readonly Job[]): Promise<Job[]> {
  const ids = jobs.map(({ id }) => id);
  const rows = await rowsWithIds(ownerReads(db, { list: formatsOf(db).job, userId, consistent: true }), ids);
  return (await showJobs(db, rows)).sort((a, b) => a.creation_order - b.creation_order);
}

/** Whether the number of jobs in each status is what their batch counts. */
export function countsAgree(
  { jobs_count_per_status }: Pick<Batch, 'jobs_count_per_status'>,
  jobs: readonly Pick<Job, 'status'>[],
): boolean {
  const counts = Map.groupBy(jobs, ({ status }) => status);
  return Object.entries(jobs_count_per_status).every(
    ([status, count]) => (counts.get(status as Job['status'])?.length ?? 0) === count,
  );
}
