/**
 * The two rules by which one end follows from another, and when it was. A batch ends because its
 * jobs have ended, and jobs end because their batch has ended.
 *
 * A derived status never overwrites a reported one. The row keeps the reported values aside, every
 * change works on them, and the rules are applied anew to the result. So the same events leave the
 * same rows in any order, and an end that an event reports wins over the derived one.
 */

import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import { countUnfinished, endOfJobs, isFinalBatchStatus, isFinalJob } from '../../statuses.ts';
import { fromMicroseconds, laterOf } from '../../values/timestamp.ts';

/**
 * A closed batch without a PENDING, RUNNING or CANCELING job is DONE, or CANCELED when all of its
 * jobs are. Exceptions:
 * - A batch that was canceled, timed out, failed or done as a whole stays what it is.
 * - A batch does not end while it is being created, because further jobs are to come. It also does
 *   not end while it is being canceled, or while a call adds or cancels some of its jobs.
 * - A batch without jobs ends only when it was closed after its creation.
 *
 * Its update and its end are the later of two times: when it was closed, and the last update of its
 * jobs. See endOf for a reported end.
 */
export function deriveBatch(batch: BatchRow): BatchRow {
  const { status, updated_at, created_at, start_datetime, end_datetime } = batch;
  const { jobs_count, jobs_count_per_status, jobs_updated_at, written_at } = batch;
  const isDerived = hasEnded(batch) && !isFinalBatchStatus(status);
  const shown: Pick<BatchRow, 'status' | 'updated_at'> = isDerived
    ? {
        status: jobs_count > 0 && jobs_count_per_status.CANCELED === jobs_count ? 'CANCELED' : 'DONE',
        updated_at: laterOf(updated_at, jobs_updated_at),
      }
    : { status, updated_at };
  const since = isDerived ? laterOf(timeOf(written_at.open) ?? created_at, jobs_updated_at) : timeOf(written_at.status);
  const times = { start: start_datetime ?? created_at, end: end_datetime, since: since ?? updated_at };
  const end = isFinalBatchStatus(shown.status) ? endOf(times) : null;
  if (!isDerived && end === end_datetime) return batch;
  return { ...batch, ...shown, end_datetime: end, reported: { status, updated_at, end_datetime } };
}

/**
 * A job that has not ended is CANCELED once its batch was canceled, timed out or failed as a whole:
 * no device will run it. It is CANCELED because the job itself is not known to have failed.
 * `errors` says why, unless the user canceled and knows. A reported end of the job itself, before
 * or after its batch's, is kept: it may have results. A batch that is DONE as a whole ends no job:
 * their own events say how they have ended.
 *
 * The job is updated when its batch ended, if that is later than its own last update.
 */
export function deriveJob(job: JobRow, batch: BatchRow): JobRow {
  const { status, updated_at, errors, created_at, start_timestamp, end_timestamp, written_at } = job;
  const end = isFinalJob(job) ? null : endOfJobs(batch.status);
  const batchEnd = timeOf(batch.written_at.status);
  const shown: Pick<JobRow, 'status' | 'updated_at' | 'errors'> =
    end === null
      ? { status, updated_at, errors }
      : {
          status: 'CANCELED',
          updated_at: laterOf(updated_at, batchEnd),
          errors: errors?.length || end.errors.length === 0 ? errors : [...end.errors],
        };
  const since = end === null ? timeOf(written_at.status) : laterOf(created_at, batchEnd);
  const times = { start: start_timestamp ?? created_at, end: end_timestamp, since: since ?? updated_at };
  const shownEnd = isFinalJob(shown) ? endOf(times) : null;
  if (end === null && shownEnd === end_timestamp) return job;
  return { ...job, ...shown, end_timestamp: shownEnd, reported: { status, updated_at, errors, end_timestamp } };
}

interface Times {
  /** Or the creation, where no start was reported. */
  readonly start: string;
  /** As it was reported. */
  readonly end: string | null;
  /** When what ended the row took place. */
  readonly since: string;
}

/**
 * When a row that has ended did so: the reported time, otherwise the time of the event or call that
 * ended it. It is never before the start or, without a start, the creation. A row that has not
 * ended shows no end.
 */
export function endOf({ start, end, since }: Times): string {
  return laterOf(end ?? since, start);
}

function timeOf(microseconds: number | undefined): string | undefined {
  return microseconds === undefined ? undefined : fromMicroseconds(microseconds);
}

/** Whether the batch has ended in a way that ends its jobs, and some of them are not ended yet. */
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
