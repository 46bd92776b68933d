import { CorruptData, InvalidInput, NotFound } from '../../errors.ts';
import { isResultsKeyOf, userResultsPrefix } from '../../results-key.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import type { OwnerLists } from '../columns/lists.ts';
import type { Event, Operation } from './draft.ts';
import { batchIn, jobIn, withRows } from './draft.ts';
import { type BatchUpdate, type JobUpdate, updatedRow } from './row-update.ts';

/** `now`: a canonical time, which counts where no event gives another. */
export function batchUpdate(
  lists: OwnerLists,
  batchId: string,
  update: BatchUpdate,
  now: string,
  event?: Event,
): Operation {
  return {
    batchIds: [batchId],
    jobIds: [],
    event,
    apply(draft) {
      const before = batchIn(draft, batchId);
      if (before === undefined) throw new NotFound(`There is no batch ${batchId}.`);
      const after = updatedRow(before, update, { time: event?.time ?? now, event: event !== undefined });
      return after === before ? draft : withRows(lists, draft, { batches: [after] });
    },
  };
}

/**
 * As batchUpdate; the counts of the job's batch move with its status. Throws InvalidInput when `results_key` is not below the owner's
 * `results/{user_id}/`: a link is signed for whatever key a job names, and that of another owner must never get there.
 */
export function jobUpdate(
  lists: OwnerLists,
  userId: string,
  jobId: string,
  update: JobUpdate,
  now: string,
  event?: Event,
): Operation {
  requireOwnResults(userId, update.results_key);
  return {
    batchIds: [],
    jobIds: [jobId],
    event,
    apply(draft) {
      const before = jobIn(draft, jobId);
      if (before === undefined) throw new NotFound(`There is no job ${jobId}.`);
      const after = updatedRow(before, update, { time: event?.time ?? now, event: event !== undefined });
      if (after === before) return draft;
      if (after.status === before.status) return withRows(lists, draft, { jobs: [after] });
      const batch = batchIn(draft, before.batch_id);
      if (batch === undefined) throw new CorruptData(`The batch of the job ${jobId} is missing.`);
      return withRows(lists, draft, { batches: [recounted(batch, before, after)], jobs: [after] });
    },
  };
}

/** The batch with one of its jobs in another status. It is not updated by that itself: `updated_at` stays. */
function recounted(batch: BatchRow, before: JobRow, after: JobRow): BatchRow {
  const counts = batch.jobs_count_per_status;
  return {
    ...batch,
    jobs_count_per_status: {
      ...counts,
      [before.status]: counts[before.status] - 1,
      [after.status]: counts[after.status] + 1,
    },
    rev: batch.rev + 1,
  };
}

function requireOwnResults(userId: string, key: string | null | undefined) {
  if (typeof key !== 'string' || isResultsKeyOf(userId, key)) return;
  const msg = `Input should be below ${userResultsPrefix(userId)}`;
  throw new InvalidInput([{ loc: ['results_key'], msg, type: 'value_error' }]);
}
