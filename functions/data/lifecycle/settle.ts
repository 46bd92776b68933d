/**
 * Settling: the one rule by which a batch ends because its jobs have ended. What settling derives never overwrites what was said of
 * the batch: the row keeps that aside, every operation works on it, and the rule is applied anew to the result. So the same events
 * leave the same rows in any order, and an end that an event says wins over the derived one.
 */

import type { BatchRow } from '../../schemas/batch.ts';
import { later } from '../../timestamp.ts';
import { isFinalBatchStatus } from './update-row.ts';

/**
 * A closed batch none of whose jobs is PENDING, RUNNING or CANCELING is DONE, or CANCELED when all of its jobs are. Exceptions:
 * - A batch that was canceled, timed out, failed or done as a whole stays what it is.
 * - A batch that is still being created does not settle: further jobs are to come. Nor does one that is being canceled.
 * - A batch without jobs settles only when it was closed after its creation.
 *
 * It is updated when it was closed or when the last update of its jobs was made, whichever is later.
 */
export function settle(batch: BatchRow): BatchRow {
  if (!hasEnded(batch) || isFinalBatchStatus(batch.status)) return batch;
  const { status, updated_at, jobs_count, jobs_count_per_status, jobs_updated_at } = batch;
  return {
    ...batch,
    status: jobs_count > 0 && jobs_count_per_status.CANCELED === jobs_count ? 'CANCELED' : 'DONE',
    updated_at: later(updated_at, jobs_updated_at),
    unsettled: { status, updated_at },
  };
}

/** The batch as it was said to be. */
export function unsettle(batch: BatchRow): BatchRow {
  const { unsettled, ...row } = batch;
  return unsettled === undefined ? batch : { ...row, ...unsettled };
}

function hasEnded({ open, creating, canceling, jobs_count, jobs_count_per_status, written_at }: BatchRow): boolean {
  if (open || creating === true || canceling === true) return false;
  if (jobs_count === 0) return written_at.open !== undefined;
  const { PENDING, RUNNING, CANCELING } = jobs_count_per_status;
  return PENDING + RUNNING + CANCELING === 0;
}
