/**
 * Cancels batches with their jobs, by the calls of users or where a creation did not come to its
 * end.
 */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { CorruptData, IllegalTransition, NotFound, TooBusy } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import { countUnfinished, isFinalBatchStatus, isFinalJob } from '../../statuses.ts';
import { fromMicroseconds } from '../../timestamp.ts';
import { type OwnerLists, ownerLists } from '../columns/lists.ts';
import { listJobIds } from '../jobs.ts';
import { commitChanges } from './commit-changes.ts';
import { type Change, type Draft, reportedBatch, visibleBatch, visibleJob, withJobs, withRows } from './draft.ts';
import { changeJobs, JobsLeft, mostAttempts, onBatch } from './end-jobs.ts';
import type { LifecycleOptions } from './lifecycle.ts';
import type { LifecycleTables } from './transaction.ts';
import { updateRow } from './update-row.ts';

export interface Cancellation {
  readonly lists: OwnerLists;
  readonly batchId: string;
  readonly jobIds: readonly string[];
  /** The present, as a canonical time. */
  readonly now: string;
  /** What the jobs then say; by default what they say already. */
  readonly errors?: string[] | undefined;
}

/**
 * The function that cancels a batch and returns it: the batch is closed, then its unfinished jobs
 * and the batch itself become CANCELED. A batch that is canceled already stays as it is. Where one
 * transaction does not hold it all, the first closes the batch and marks it `canceling`. If the
 * call dies on its way, the same call again completes it; so it does where `hasTime` stopped it,
 * after any of its transactions.
 *
 * Throws NotFound; IllegalTransition when the batch has ended otherwise; TooBusy; OutOfTime. An end
 * that comes while it is being canceled or created stands, but its jobs are canceled all the same:
 * nobody else would end them.
 *
 * Write units for rows up to 1 KB: 10, 6 for each job, and 6 for each 30 jobs that were created
 * together.
 */
export function cancelBatch(
  client: DynamoDBDocumentClient,
  tables: LifecycleTables,
  { now = Date.now, rowsPerBlock, beforeMultiTransaction }: LifecycleOptions = {},
): (userId: string, batchId: string, hasTime?: () => boolean) => Promise<BatchRow> {
  const lists = ownerLists(rowsPerBlock);
  const announce = async (userId: string, batchId: string) => beforeMultiTransaction?.(userId, batchId);
  const jobIdsOf = listJobIds(client, tables, lists);
  return async (userId, batchId, hasTime) => {
    for (let attempt = 1; attempt <= mostAttempts; attempt++) {
      const jobIds = await jobIdsOf(userId, batchId);
      const cancellation = { lists, batchId, jobIds, now: fromMicroseconds(now() * 1000) };
      let batch: BatchRow | undefined;
      const onCommitted = (draft: Draft) => {
        batch = visibleBatch(draft, batchId);
      };
      const context = {
        client,
        tables,
        userId,
        lists,
        now,
        onCommitted,
        hasTime,
        beforeMultiTransaction: () => announce(userId, batchId),
      };
      const [error] = await commitChanges(context, [cancelOperations(cancellation)]);
      if (error === undefined && batch?.status === 'CANCELED') return batch;
      if (error === undefined && batch !== undefined) throw endedOtherwise(batch);
      if (!(error instanceof JobsLeft)) throw error ?? new NotFound('There is no such batch.');
    }
    throw new TooBusy('Jobs were added to the batch through all attempts.');
  };
}

function cancelOperations(cancellation: Cancellation): Change[] {
  return [closeBatch(cancellation), ...cancelJobsOperations(cancellation), endBatch(cancellation)];
}

/**
 * Cancels those of the jobs that have not ended. Their batch, if it is closed and has no other
 * unfinished job, ends by it.
 */
export function cancelJobsOperations({ lists, batchId, jobIds, now, errors }: Cancellation): Change[] {
  const update = { status: 'CANCELED', end_timestamp: now, ...(errors && { errors }) } as const;
  return changeJobs(lists, { batchId, jobIds }, (job) =>
    isFinalJob(job) ? job : updateRow(job, update, { kind: 'direct call', time: now }),
  );
}

function closeBatch({ lists, batchId, jobIds, now }: Cancellation): Change {
  return onBatch(batchId, (draft, batch) => {
    if (jobIds.length < batch.jobs_count) throw new JobsLeft();
    const { status } = visibleBatch(draft, batchId) ?? batch;
    const isUnfinished = batch.canceling === true || batch.creating === true;
    if (status === 'CANCELED' && !isUnfinished) return draft;
    if (isFinalBatchStatus(status) && !isUnfinished) throw endedOtherwise({ status });
    const closed = updateRow(batch, { open: false }, { kind: 'direct call', time: now });
    if (closed === batch && batch.canceling === true) return draft;
    return withRows(lists, draft, { batches: [{ ...closed, canceling: true, rev: batch.rev + 1 }] });
  });
}

/**
 * Cancels one job; its batch, if it is closed and this was its last job, ends by it. A job that is
 * canceled already stays as it is.
 */
export function cancelJob(lists: OwnerLists, { jobId, now }: { readonly jobId: string; readonly now: string }): Change {
  return {
    batchIds: [],
    jobIds: [jobId],
    apply(draft) {
      const job = visibleJob(draft, jobId);
      if (job === undefined) throw new NotFound('There is no such job.');
      if (job.status === 'CANCELED') return draft;
      if (isFinalJob(job)) throw new IllegalTransition('job_ended', `The job is ${job.status} and cannot be canceled.`);
      const batch = reportedBatch(draft, job.batch_id);
      if (batch === undefined) throw new CorruptData(`The batch of the job ${jobId} is missing.`);
      const canceled = updateRow(job, { status: 'CANCELED', end_timestamp: now }, { kind: 'direct call', time: now });
      return withJobs(lists, draft, { batch, jobs: [canceled] });
    },
  };
}

function endBatch({ lists, batchId, now }: Cancellation): Change {
  return onBatch(batchId, (draft, batch) => {
    if (countUnfinished(batch.jobs_count_per_status) > 0) throw new JobsLeft();
    if (batch.canceling !== true) return draft;
    const { canceling, creating, pending_calls, ...rest } = batch;
    const update = { status: 'CANCELED', end_datetime: now } as const;
    const ended = isFinalBatchStatus(rest.status)
      ? { ...rest, rev: rest.rev + 1 }
      : updateRow<BatchRow>(rest, update, { kind: 'direct call', time: now });
    return withRows(lists, draft, { batches: [ended] });
  });
}

function endedOtherwise({ status }: Pick<BatchRow, 'status'>): IllegalTransition {
  return new IllegalTransition('batch_ended', `The batch is ${status} and cannot be canceled.`);
}
