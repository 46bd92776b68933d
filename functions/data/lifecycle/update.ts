import { CorruptData, IllegalTransition, type InputFault, InvalidInput, NotFound } from '../../errors.ts';
import { isResultsKeyOf, userResultsPrefix } from '../../results-key.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import { later } from '../../timestamp.ts';
import type { OwnerLists } from '../columns/lists.ts';
import { batchIn, type EventReference, jobIn, type Operation, settledBatchIn, withRows } from './draft.ts';
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
      if (before === undefined) throw new NotFound('There is no such batch.');
      if (event === undefined) requireStatusOf(settledBatchIn(draft, id) as BatchRow, update.status);
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
      if (before === undefined) throw new NotFound('There is no such job.');
      const after = updateRow(before, update, sourceOf(request));
      if (after === before) return draft;
      const batch = batchIn(draft, before.batch_id);
      if (batch === undefined) throw new CorruptData(`The batch of the job ${id} is missing.`);
      const counted = recount(batch, before, after);
      return withRows(lists, draft, { batches: counted === batch ? [] : [counted], jobs: [after] });
    },
  };
}

function sourceOf({ now, event }: UpdateRequest<unknown>): UpdateSource {
  return event === undefined ? { kind: 'direct call', time: now } : { kind: 'event', time: event.time };
}

/** Throws IllegalTransition when a settled batch has another status: to a direct call, a derived end is as final as any other. */
function requireStatusOf({ id, status, unsettled }: BatchRow, next: BatchUpdate['status']): void {
  if (unsettled === undefined || next === undefined || next === status) return;
  throw new IllegalTransition(`${id} is ${status} and cannot become ${next}.`);
}

/**
 * The batch after an update of one of its jobs; the same object when neither its counts nor the time of its jobs' latest update
 * change. That is no update of the batch itself: `updated_at` stays, unless the batch settles by it.
 */
export function recount(batch: BatchRow, before: JobRow, after: JobRow): BatchRow {
  const jobs_updated_at = later(after.updated_at, batch.jobs_updated_at);
  if (after.status === before.status && jobs_updated_at === batch.jobs_updated_at) return batch;
  const counts = { ...batch.jobs_count_per_status };
  counts[before.status] -= 1;
  counts[after.status] += 1;
  return { ...batch, jobs_count_per_status: counts, jobs_updated_at, rev: batch.rev + 1 };
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
