/**
 * The two rules by which one end follows from another. A batch ends because its jobs have ended,
 * and jobs end because their batch has ended. A derived status never overwrites a reported one:
 * the row keeps what was reported aside, every change works on that, and the rules are applied
 * anew to the result. So the same events leave the same rows in any order, and an end that an
 * event reports wins over the derived one.
 */

import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import { countUnfinished, endOfJobs, isFinalBatchStatus, isFinalJob } from '../../statuses.ts';
import { fromMicroseconds, laterOf } from '../../timestamp.ts';

/**
 * A closed batch none of whose jobs is PENDING, RUNNING or CANCELING is DONE, or CANCELED when all
 * of its jobs are. Exceptions:
 * - A batch that was canceled, timed out, failed or done as a whole stays what it is.
 * - A batch that is still being created does not end: further jobs are to come. Nor does one
 *   that is being canceled, or some of whose jobs are being added or canceled by a call under way.
 * - A batch without jobs ends only when it was closed after its creation.
 *
 * It is updated when it was closed or when the last update of its jobs was made, whichever is
 * later.
 */
export function deriveBatch(batch: BatchRow): BatchRow {
  if (!hasEnded(batch) || isFinalBatchStatus(batch.status)) return batch;
  const { status, updated_at, jobs_count, jobs_count_per_status, jobs_updated_at } = batch;
  return {
    ...batch,
    status: jobs_count > 0 && jobs_count_per_status.CANCELED === jobs_count ? 'CANCELED' : 'DONE',
    updated_at: laterOf(updated_at, jobs_updated_at),
    reported: { status, updated_at },
  };
}

/**
 * A job that has not ended is CANCELED once its batch was canceled, timed out or failed as a whole:
 * nobody will run it. CANCELED, because of the job itself nothing is known to have failed; `errors`
 * says why, unless a user knows by having canceled. A reported end of the job itself, before
 * or after its batch, is kept: it may have results. A batch that is DONE as a whole ends
 * no job: it says that they have ended, and how, they say themselves.
 *
 * It is updated when its batch ended, if that is later than its own last update.
 */
export function deriveJob(job: JobRow, { status, written_at }: BatchRow): JobRow {
  const end = endOfJobs(status);
  if (isFinalJob(job) || end === null) return job;
  const { updated_at, errors } = job;
  return {
    ...job,
    status: 'CANCELED',
    updated_at: written_at.status === undefined ? updated_at : laterOf(updated_at, fromMicroseconds(written_at.status)),
    errors: errors?.length || end.errors.length === 0 ? errors : [...end.errors],
    reported: { status: job.status, updated_at, errors },
  };
}

/** Whether the batch ends its jobs, but some of them have not been ended since. */
export function hasJobsToEnd({ status, jobs_count_per_status: counts }: BatchRow): boolean {
  return endOfJobs(status) !== null && countUnfinished(counts) > 0;
}

/** The job as it was reported. */
export function jobAsReported(job: JobRow): JobRow {
  const { reported, ...row } = job;
  return reported === undefined ? job : { ...row, ...reported };
}

/** The batch as it was reported. */
export function batchAsReported(batch: BatchRow): BatchRow {
  const { reported, ...row } = batch;
  return reported === undefined ? batch : { ...row, ...reported };
}

function hasEnded(batch: BatchRow): boolean {
  const { open, creating, canceling, pending_calls, jobs_count, jobs_count_per_status, written_at } = batch;
  if (open || creating === true || canceling === true || pending_calls !== undefined) return false;
  if (jobs_count === 0) return written_at.open !== undefined;
  return countUnfinished(jobs_count_per_status) === 0;
}
