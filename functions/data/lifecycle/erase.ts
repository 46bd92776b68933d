/** The changes that erase the content of a batch that has ended. The rows stay. */

import { IllegalTransition, requireFound } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import { countUnfinished, isFinalBatchStatus } from '../../statuses.ts';
import { type Change, visibleBatch, withRows } from './draft.ts';
import { changeJobs, type JobsOfBatch, onBatch } from './end-jobs.ts';

/** Whether nothing changes the batch and its jobs any more, but for events. */
export function hasComeToRest(batch: BatchRow): boolean {
  const { status, creating, canceling, pending_calls, jobs_count_per_status: counts } = batch;
  const isUnderWay = creating === true || canceling === true || pending_calls !== undefined;
  return isFinalBatchStatus(status) && !isUnderWay && countUnfinished(counts) === 0;
}

export function notEnded(): IllegalTransition {
  return new IllegalTransition('batch_not_ended', 'The batch, or a job of it, has not ended: cancel it first.');
}

/**
 * Erases the batch's own content: from now on events change nothing of it or of its jobs
 * (requireContent). It says `erasing` until endErasing. Throws NotFound; IllegalTransition while
 * the batch or a job of it has not ended. `now` is a canonical time.
 */
export function beginErasing({ batchId, now }: { batchId: string; now: string }): Change {
  return onBatch(batchId, (draft) => {
    const batch = requireFound(visibleBatch(draft, batchId), 'batch');
    if (batch.erased_at !== null) return draft;
    if (!hasComeToRest(batch)) throw notEnded();
    // What is shown was derived: nothing will be derived again.
    const { reported, ...shown } = batch;
    const content = { tags: [], configuration: null, backend_configuration: null, webhook: null, device_status: null };
    const erased: BatchRow = { ...shown, ...content, erased_at: now, erasing: true, rev: batch.rev + 1 };
    return withRows(draft, { batches: [erased] });
  });
}

/** Erases the content of these jobs of a batch whose erasing has begun. */
export function eraseJobs(jobs: JobsOfBatch): Change[] {
  return changeJobs(jobs, (job, batch) => {
    if (job.erased_at !== undefined || batch.erased_at === null) return job;
    const { reported, has_webhook, ...shown } = job;
    const content = { variables: null, errors: null, results_key: null };
    return { ...shown, ...content, erased_at: batch.erased_at, rev: job.rev + 1 } satisfies JobRow;
  });
}

export function endErasing(batchId: string): Change {
  return onBatch(batchId, (draft, { erasing, ...batch }) =>
    erasing === undefined ? draft : withRows(draft, { batches: [{ ...batch, rev: batch.rev + 1 }] }),
  );
}

/**
 * Throws IllegalTransition when a user's call would add to an erased batch, or repeat it. Events
 * change nothing of an erased batch. They do not become dead letters either, because a dead letter
 * would keep the event's content.
 */
export function requireContent({ erased_at }: Pick<BatchRow, 'erased_at'>): void {
  if (erased_at !== null) throw new IllegalTransition('erased', 'The content of the batch was erased.');
}
