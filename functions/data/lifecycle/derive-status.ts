/**
 * The two rules by which one end follows from another, and when it was. A batch ends because its
 * jobs have ended, and jobs end because their batch has ended. A derived status never overwrites a
 * reported one: the row keeps what was reported aside, every change works on that, and the rules
 * are applied anew to the result. So the same events leave the same rows in any order, and an end
 * that an event reports wins over the derived one.
 */

import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import { countUnfinished, endOfJobs, isFinalBatchStatus, isFinalJob } from '../../statuses.ts';
import { fromMicroseconds, laterOf } from '../../values/timestamp.ts';

/**
 * A closed batch none of whose jobs is PENDING, RUNNING or CANCELING is DONE, or CANCELED when all
 * of its jobs are. Exceptions:
 * - A batch that was canceled, timed out, failed or done as a whole stays what it is.
 * - A batch that is still being created does not end: further jobs are to come. Nor does one
 *   that is being canceled, or some of whose jobs are being added or canceled by a call under way.
 * - A batch without jobs ends only when it was closed after its creation.
 *
 * It is updated, and has ended, when it was closed or when the last update of its jobs was made,
 * whichever is later. See endOf for the end of one that was reported.
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
 * nobody will run it. CANCELED, because of the job itself nothing is known to have failed; `errors`
 * says why, unless a user knows by having canceled. A reported end of the job itself, before
 * or after its batch, is kept: it may have results. A batch that is DONE as a whole ends
 * no job: it says that they have ended, and how, they say themselves.
 *
 * It is updated when its batch ended, if that is later than its own last update.
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
 * When a row ended that has ended: as reported, otherwise with the event or call that ended it, and
 * never before it started or, without a start, was created. A row that has not ended shows no end.
 */
export function endOf({ start, end, since }: Times): string {
  return laterOf(end ?? since, start);
}

function timeOf(microseconds: number | undefined): string | undefined {
  return microseconds === undefined ? undefined : fromMicroseconds(microseconds);
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
