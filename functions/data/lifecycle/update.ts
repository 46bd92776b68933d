import { CorruptData, type InputFault, InvalidInput, NotFound } from '../../errors.ts';
import { isResultsKeyOf, userResultsPrefix } from '../../results-key.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import type { OwnerLists } from '../columns/lists.ts';
import { batchIn, type EventReference, jobIn, type Operation, withRows } from './draft.ts';
import { type BatchUpdate, type JobUpdate, type UpdateSource, updateRow } from './update-row.ts';

interface UpdateRequest<Update> {
  readonly id: string;
  readonly update: Update;
  /** The present, as a canonical time: counts where no event asks. */
  readonly now: string;
  readonly event?: EventReference | undefined;
}

export function updateBatch(lists: OwnerLists, request: UpdateRequest<BatchUpdate>): Operation {
  const { id, update, event } = request;
  return {
    batchIds: [id],
    jobIds: [],
    event,
    apply(draft) {
      const before = batchIn(draft, id);
      if (before === undefined) throw new NotFound(`There is no batch ${id}.`);
      const after = updateRow(before, update, sourceOf(request));
      return after === before ? draft : withRows(lists, draft, { batches: [after] });
    },
  };
}

/** As updateBatch; the counts of the job's batch move with its status. `results_key` must be the owner's: see requireOwnResults. */
export function updateJob(lists: OwnerLists, request: UpdateRequest<JobUpdate>): Operation {
  const { id, update, event } = request;
  return {
    batchIds: [],
    jobIds: [id],
    event,
    apply(draft) {
      const before = jobIn(draft, id);
      if (before === undefined) throw new NotFound(`There is no job ${id}.`);
      const after = updateRow(before, update, sourceOf(request));
      if (after === before) return draft;
      if (after.status === before.status) return withRows(lists, draft, { jobs: [after] });
      const batch = batchIn(draft, before.batch_id);
      if (batch === undefined) throw new CorruptData(`The batch of the job ${id} is missing.`);
      return withRows(lists, draft, { batches: [moveCount(batch, before, after)], jobs: [after] });
    },
  };
}

function sourceOf({ now, event }: UpdateRequest<unknown>): UpdateSource {
  return event === undefined ? { kind: 'direct call', time: now } : { kind: 'event', time: event.time };
}

/** The batch with one of its jobs in another status. That is no update of the batch itself: `updated_at` stays. */
function moveCount(batch: BatchRow, before: JobRow, after: JobRow): BatchRow {
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

/**
 * Throws InvalidInput at `loc` when the key is not one of the owner's results (see isResultsKeyOf): a link is signed for whatever
 * key a job names, so another owner's must never get there.
 */
export function requireOwnResults(userId: string, key: string | null | undefined, loc: InputFault['loc']): void {
  if (typeof key !== 'string' || isResultsKeyOf(userId, key)) return;
  const msg = `Input should be a key below ${userResultsPrefix(userId)}, of plain segments and at most 1,024 bytes`;
  throw new InvalidInput([{ loc, msg, type: 'value_error' }]);
}
