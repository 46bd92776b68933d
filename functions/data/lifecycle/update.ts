import { CorruptData, IllegalTransition, type InputFault, InvalidInput, NotFound } from '../../errors.ts';
import { isResultsKeyOf, userResultsPrefix } from '../../results-key.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import type { BatchStatus, JobStatus } from '../../schemas/values.ts';
import { isFinalBatchStatus } from '../../statuses.ts';
import type { OwnerLists } from '../columns/lists.ts';
import {
  type Change,
  reportedBatch,
  reportedJob,
  type SourceCall,
  visibleBatch,
  visibleJob,
  withJobs,
  withRows,
} from './draft.ts';
import { type BatchUpdate, type JobUpdate, type UpdateSource, updateRow } from './update-row.ts';

interface UpdateRequest<Update> {
  readonly id: string;
  readonly update: Update;
  /** The present, as a canonical time: counts where no event asks. */
  readonly now: string;
  readonly event?: SourceCall | undefined;
}

/**
 * The operation that updates a batch. One that ends it closes it too. Its jobs are for
 * endJobsChanges (see end-jobs.ts) to end.
 */
export function updateBatch(lists: OwnerLists, request: UpdateRequest<BatchUpdate>): Change {
  const { id, update, event } = request;
  return {
    batchIds: [id],
    jobIds: [],
    event,
    apply(draft) {
      const before = reportedBatch(draft, id);
      if (before === undefined) throw new NotFound('There is no such batch.');
      if (event === undefined) requireStatusOf(visibleBatch(draft, id) as BatchRow, update.status);
      const closing = update.status !== undefined && isFinalBatchStatus(update.status) && { open: false as const };
      const after = updateRow<BatchRow>(before, { ...update, ...closing }, sourceOf(request));
      return after === before ? draft : withRows(lists, draft, { batches: [after] });
    },
  };
}

/**
 * As updateBatch; the counts of the job's batch move with its status. `results_key` must be the
 * owner's: see requireOwnResults.
 */
export function updateJob(lists: OwnerLists, request: UpdateRequest<JobUpdate>): Change {
  const { id, update, event } = request;
  return {
    batchIds: [],
    jobIds: [id],
    event,
    apply(draft) {
      const before = reportedJob(draft, id);
      if (before === undefined) throw new NotFound('There is no such job.');
      if (event === undefined) requireStatusOf(visibleJob(draft, id) as JobRow, update.status);
      const after = updateRow(before, update, sourceOf(request));
      if (after === before) return draft;
      const batch = reportedBatch(draft, before.batch_id);
      if (batch === undefined) throw new CorruptData(`The batch of the job ${id} is missing.`);
      return withJobs(lists, draft, { batch, jobs: [after] });
    },
  };
}

function sourceOf({ now, event }: UpdateRequest<unknown>): UpdateSource {
  return event === undefined ? { kind: 'direct call', time: now } : { kind: 'event', time: event.time };
}

/**
 * Throws IllegalTransition when a settled row has another status: to a direct call, a derived end
 * is as final as any other.
 */
function requireStatusOf({ id, status, reported }: BatchRow | JobRow, next: BatchStatus | JobStatus | undefined): void {
  if (reported === undefined || next === undefined || next === status) return;
  throw new IllegalTransition('illegal_transition', `${id} is ${status} and cannot become ${next}.`);
}

/**
 * Throws InvalidInput at `loc` when the key is not one of the owner's results (see isResultsKeyOf):
 * a link is signed for whatever key a job names, so another owner's must never get there.
 */
export function requireOwnResults(userId: string, key: string | null | undefined, loc: InputFault['loc']): void {
  if (typeof key !== 'string' || isResultsKeyOf(userId, key)) return;
  const msg = `Input should be a key below ${userResultsPrefix(userId)}, of plain segments and at most 1,024 bytes`;
  throw new InvalidInput([{ loc, msg, type: 'value_error' }]);
}
