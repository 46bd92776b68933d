/** The changes that cancel batches and jobs. */

import { CorruptData, IllegalTransition, requireFound } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import { countUnfinished, isFinalBatchStatus, isFinalJob } from '../../statuses.ts';
import type { OwnerLists } from '../columns/lists.ts';
import { jobAsReported } from './derive-status.ts';
import {
  type Change,
  reportedBatch,
  visibleBatch,
  visibleJob,
  type Write,
  withJobs,
  withRows,
  withWrite,
} from './draft.ts';
import { changeJobs, JobsLeft, onBatch } from './end-jobs.ts';
import { updateRow } from './update-row.ts';

export interface Cancellation {
  readonly lists: OwnerLists;
  readonly batchId: string;
  readonly jobIds: readonly string[];
  /** The present, as a canonical time. */
  readonly now: string;
  /** The `errors` of the canceled jobs; by default the batch's `cancel_reason`. */
  readonly errors?: string[] | undefined;
  readonly act?: OperatorAct | undefined;
}

/** What an operator does to the batch of another. */
export interface OperatorAct {
  /** For the owner: the batch's `device_status`, and the `errors` of jobs that it cancels. */
  readonly text: string;
  /** The act's row in the audit trail: written once, with the first transaction. */
  readonly write: (before: BatchRow, after: BatchRow) => Write;
}

/**
 * Closes the batch and marks it `canceling`, cancels its unfinished jobs, then the batch itself. A
 * batch that is canceled already stays as it is. Throws NotFound; IllegalTransition when the batch
 * has ended otherwise; JobsLeft when it has other jobs than these. An end that comes while the
 * batch is being canceled or created remains, but the jobs are canceled all the same: nobody else
 * would end them.
 */
export function cancelBatchChanges(cancellation: Cancellation): Change[] {
  return [closeBatch(cancellation), ...cancelJobsChanges(cancellation), endBatch(cancellation)];
}

/** Cancels the unfinished ones of these jobs. Their batch may end by it (see derive-status.ts). */
export function cancelJobsChanges({ lists, batchId, jobIds, now, errors }: Cancellation): Change[] {
  return changeJobs(lists, { batchId, jobIds }, (job, { cancel_reason: reason }) => {
    if (isFinalJob(job)) return job;
    const said = errors ?? (reason === undefined ? undefined : [reason]);
    const update = { status: 'CANCELED', end_timestamp: now, ...(said && { errors: said }) } as const;
    return updateRow(jobAsReported(job), update, { kind: 'direct call', time: now });
  });
}

/**
 * Cancels one job. Its batch may end by it. A job that is canceled already stays as it is. Throws
 * NotFound; IllegalTransition when the job has ended otherwise.
 */
export function cancelJobChange(
  lists: OwnerLists,
  { jobId, now }: { readonly jobId: string; readonly now: string },
): Change {
  return {
    batchIds: [],
    jobIds: [jobId],
    apply(draft) {
      const job = requireFound(visibleJob(draft, jobId), 'job');
      if (job.status === 'CANCELED') return draft;
      if (isFinalJob(job)) throw new IllegalTransition('job_ended', `The job is ${job.status} and cannot be canceled.`);
      const batch = reportedBatch(draft, job.batch_id);
      if (batch === undefined) throw new CorruptData(`The batch of the job ${jobId} is missing.`);
      const update = { status: 'CANCELED', end_timestamp: now } as const;
      const canceled = updateRow(jobAsReported(job), update, { kind: 'direct call', time: now });
      return withJobs(lists, draft, { batch, jobs: [canceled] });
    },
  };
}

function closeBatch({ lists, batchId, jobIds, now, act }: Cancellation): Change {
  return onBatch(batchId, (draft, batch) => {
    if (jobIds.length < batch.jobs_count) throw new JobsLeft();
    const { status } = visibleBatch(draft, batchId) ?? batch;
    const isUnfinished = batch.canceling === true || batch.creating === true;
    if (status === 'CANCELED' && !isUnfinished) return draft;
    if (isFinalBatchStatus(status) && !isUnfinished) throw endedOtherwise({ status });
    const begins = batch.canceling !== true;
    const why = begins && act ? { device_status: act.text } : {};
    const closed = updateRow(batch, { open: false, ...why }, { kind: 'direct call', time: now });
    if (closed === batch && !begins) return draft;
    const reason = begins && act ? { cancel_reason: act.text } : {};
    const canceling: BatchRow = { ...closed, ...reason, canceling: true, rev: batch.rev + 1 };
    const begun = withRows(lists, draft, { batches: [canceling] });
    return begins && act ? withWrite(begun, act.write(batch, canceling)) : begun;
  });
}

function endBatch({ lists, batchId, now }: Cancellation): Change {
  return onBatch(batchId, (draft, batch) => {
    if (countUnfinished(batch.jobs_count_per_status) > 0) throw new JobsLeft();
    if (batch.canceling !== true) return draft;
    const { canceling, cancel_reason, creating, pending_calls, ...rest } = batch;
    const update = { status: 'CANCELED', end_datetime: now } as const;
    const ended = isFinalBatchStatus(rest.status)
      ? { ...rest, rev: rest.rev + 1 }
      : updateRow<BatchRow>(rest, update, { kind: 'direct call', time: now });
    return withRows(lists, draft, { batches: [ended] });
  });
}

export function endedOtherwise({ status }: Pick<BatchRow, 'status'>): IllegalTransition {
  return new IllegalTransition('batch_ended', `The batch is ${status} and cannot be canceled.`);
}
