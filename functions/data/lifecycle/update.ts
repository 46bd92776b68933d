import { CorruptData, type InputFault, InvalidInput, requireFound } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import { isFinalBatchStatus } from '../../statuses.ts';
import { isResultsKeyOf, userResultsPrefix } from '../../values/results-key.ts';
import type { AuditedAct } from './audited-act.ts';
import { type Change, reportedBatch, reportedJob, type SourceCall, withJobs, withRows, withWrite } from './draft.ts';
import { requireContent } from './erase.ts';
import { type BatchUpdate, type JobUpdate, type UpdateSource, updateRow } from './update-row.ts';

/**
 * Updates a batch at the time of the event, or now where a user asks. One that ends it closes it
 * too. Its jobs are for endJobsChanges (see end-jobs.ts) to end. `now` is a canonical time. If it
 * changes anything, the act of someone else than the owner is shown and written.
 */
export function updateBatch({
  id,
  update,
  act,
  ...asked
}: { readonly id: string; readonly update: BatchUpdate; readonly act?: AuditedAct | undefined } & Asked): Change {
  const { event } = asked;
  return {
    batchIds: [id],
    jobIds: [],
    event,
    apply(draft) {
      const before = requireFound(reportedBatch(draft, id), 'batch');
      if (event === undefined && update.tags !== undefined) requireContent(before);
      if (before.erased_at !== null) return draft;
      const closing = update.status !== undefined && isFinalBatchStatus(update.status) && { open: false as const };
      const after = updateRow<BatchRow>(before, { ...update, ...closing }, sourceOf(asked));
      if (after === before) return draft;
      if (act === undefined) return withRows(draft, { batches: [after] });
      const shown = updateRow<BatchRow>(before, { ...update, device_status: act.text }, sourceOf(asked));
      return withWrite(withRows(draft, { batches: [shown] }), act.write(before));
    },
  };
}

/**
 * As updateBatch; the counts of the job's batch move with its status. `results_key` must be the
 * owner's: see requireOwnResults.
 */
export function updateJob({
  id,
  update,
  event,
}: {
  readonly id: string;
  readonly update: JobUpdate;
  readonly event: SourceCall;
}): Change {
  return {
    batchIds: [],
    jobIds: [id],
    event,
    apply(draft) {
      const before = requireFound(reportedJob(draft, id), 'job');
      const batch = reportedBatch(draft, before.batch_id);
      if (batch === undefined) throw new CorruptData(`The batch of the job ${id} is missing.`);
      if (batch.erased_at !== null) return draft;
      const after = updateRow(before, update, sourceOf({ event }));
      if (after === before) return draft;
      return withJobs(draft, { batch, jobs: [after] });
    },
  };
}

type Asked = { readonly event: SourceCall; readonly now?: never } | { readonly event?: never; readonly now: string };

function sourceOf({ event, now }: Asked): UpdateSource {
  return event === undefined ? { kind: 'direct call', time: now } : { kind: 'event', time: event.time };
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
