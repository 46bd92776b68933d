/** What users cancel: batches with their jobs, or jobs. */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { IllegalTransition, NotFound, requireFound, Unfinished } from '../../errors.ts';
import type { Batch, BatchRow } from '../../schemas/batch.ts';
import type { Job, JobRow } from '../../schemas/job.ts';
import type { CancelJobsQuery } from '../../schemas/job-selection.ts';
import { isFinalJob } from '../../statuses.ts';
import type { TableNames } from '../../tables.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import { derivedUuid } from '../../values/uuid.ts';
import {
  type Cancellation,
  cancelBatchChanges,
  cancelJobChange,
  cancelJobsChanges,
  endedOtherwise,
} from '../lifecycle/cancel.ts';
import type { CommitContext } from '../lifecycle/commit-changes.ts';
import { commitTask, type LifecycleOptions, writeContext } from '../lifecycle/commit-tasks.ts';
import { changesOfCall, endOfCall } from '../lifecycle/pending-calls.ts';
import type { LifecycleTables } from '../lifecycle/transaction.ts';
import { batchOf, getBatch } from '../rows/batches.ts';
import { jobOf, listJobIds } from '../rows/jobs.ts';
import { selectJobs } from './selected-jobs.ts';

/**
 * The function that cancels a batch and returns it: the batch is closed, then its unfinished jobs
 * and the batch itself become CANCELED. A batch that is canceled already stays as it is. If one
 * transaction does not hold it all, the first closes the batch and marks it `canceling`. If the
 * call dies on its way, or its time is over between two transactions, the same call again
 * completes it. An operator’s act says why, and is audited with the first transaction.
 *
 * Throws NotFound; IllegalTransition when the batch has ended otherwise; TooBusy; Unfinished.
 *
 * Write units for rows up to 1 KB: 12, 6 for each job, and 6 for each 30 jobs that were created
 * together. A read unit more where a job runs, for how long.
 */
export function cancelBatch(
  client: DynamoDBDocumentClient,
  tables: LifecycleTables & TableNames<'Jobs'>,
  options: LifecycleOptions = {},
): (
  userId: string,
  batchId: string,
  how?: Pick<CommitContext, 'pace' | 'hasTime'> & Pick<Cancellation, 'act'>,
) => Promise<BatchRow> {
  const context = writeContext(client, tables, options);
  const { lists, now } = context;
  const jobIdsOf = listJobIds(client, tables, lists);
  return async (userId, batchId, { act, ...time } = {}) => {
    const { batches } = await commitTask(
      { ...context, ...time, userId },
      {
        changes: async () => {
          const jobIds = await jobIdsOf(userId, batchId);
          return cancelBatchChanges({ lists, batchId, jobIds, now: fromMilliseconds(now()), act });
        },
        beforeMultiTransaction: () => options.beforeMultiTransaction?.(userId, batchId),
      },
    );
    const batch = requireFound(batches.get(batchId), 'batch');
    if (batch.status === 'CANCELED') return batch;
    throw endedOtherwise(batch);
  };
}

/**
 * The function that cancels a job and returns it; repeated, it changes nothing. Throws NotFound
 * when the user has no such job, IllegalTransition when it has ended otherwise. Write units for
 * rows up to 1 KB: 18, 14 for one of the newest jobs. A read unit more where the job runs.
 */
export function cancelJob(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns' | 'DeviceQueue'>,
  options?: LifecycleOptions,
): (userId: string, jobId: string) => Promise<Job> {
  const context = writeContext(client, tables, options);
  return async (userId, jobId) => {
    const change = cancelJobChange(context.lists, { jobId, now: fromMilliseconds(context.now()) });
    const { jobs } = await commitTask({ ...context, userId }, { changes: [change] });
    return jobOf(jobs.get(jobId) as JobRow);
  };
}

/** Why batches or jobs were not canceled, by their ids. */
type Reasons = Readonly<Record<string, string>>;

/**
 * The function that cancels batches, each as cancelBatch does: first all as far as one transaction
 * goes, so that each is closed and small ones are canceled; then it completes the others, one after
 * the other, and hands over those that there is no time for. Reports batches that the user does not
 * have, that have ended otherwise, or that are not canceled yet. Throws what else cancelBatch
 * throws: then some of them may be canceled, and the same call goes on.
 */
export function cancelBatches(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns' | 'DeviceQueue'>,
  { handOver, ...options }: LifecycleOptions = {},
): (
  userId: string,
  batchIds: readonly string[],
  hasTime?: () => boolean,
) => Promise<{ batches: Batch[]; errors: Reasons }> {
  const { newPace } = writeContext(client, tables, options);
  const cancel = cancelBatch(client, tables, options);
  return async (userId, batchIds, hasTime = () => true) => {
    const pace = newPace();
    const canceled = new Map<string, Batch>();
    const errors = new Map<string, string>();
    /** Returns whether the batch is to be gone on with. */
    const goesOn = async (id: string, hasTimeForIt: () => boolean): Promise<boolean> => {
      try {
        canceled.set(id, batchOf(await cancel(userId, id, { pace, hasTime: hasTimeForIt })));
      } catch (error) {
        if (error instanceof Unfinished) return true;
        if (!(error instanceof NotFound || error instanceof IllegalTransition)) throw error;
        errors.set(id, error.message);
      }
      return false;
    };
    const begun: string[] = [];
    for (const id of batchIds) {
      if (!hasTime()) errors.set(id, 'There was no time left for the batch: cancel it again.');
      else if (await goesOn(id, () => false)) begun.push(id);
    }
    for (const id of begun) {
      if (hasTime() && !(await goesOn(id, hasTime))) continue;
      await handOver?.(userId, id);
      errors.set(id, 'The batch is closed and being canceled: this takes up to 15 minutes.');
    }
    return {
      batches: batchIds.flatMap((id) => canceled.get(id) ?? []),
      errors: Object.fromEntries(errors),
    };
  };
}

/**
 * The function that cancels the jobs of a batch that a query selects, and returns all that are
 * canceled now. Reports ids of jobs that the batch does not have, and jobs that have ended
 * otherwise. `requireRoom` is given the jobs before any is canceled: it may throw where an answer
 * cannot hold them. Throws NotFound when the user has no such batch. Many jobs take several
 * transactions: if the call dies on its way, the same call again completes it. Costs: selectJobs'
 * reads, and cancelBatch's writes.
 */
export function cancelJobs(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns' | 'DeviceQueue'>,
  { requireRoom, ...options }: LifecycleOptions & { readonly requireRoom?: (jobs: readonly Job[]) => void } = {},
): (userId: string, batchId: string, query: CancelJobsQuery) => Promise<{ jobs: Job[]; errors: Reasons }> {
  const context = writeContext(client, tables, options);
  const { lists, now } = context;
  const get = getBatch(client, tables);
  const select = selectJobs(client, tables, lists);
  return async (userId, batchId, query) => {
    const [batch, { jobs, unknown }] = await Promise.all([get(userId, batchId), select(userId, batchId, query)]);
    requireFound(batch, 'batch');
    requireRoom?.(jobs.map(jobOf));
    const rows = new Map(jobs.map((job) => [job.id, job]));
    const jobIds = jobs.filter((job) => !isFinalJob(job)).map(({ id }) => id);
    const cancel = cancelJobsChanges({ lists, batchId, jobIds, now: fromMilliseconds(now()) });
    // The same for a repetition, which so ends what has begun.
    const callId = derivedUuid(['cancel', batchId, query]);
    const call = { id: callId, job_ids: jobIds, errors: null };
    const ofCall = { batchId, callId };
    const changes = jobIds.length === 0 ? [endOfCall(lists, ofCall)] : changesOfCall(lists, ofCall, cancel);
    const beforeMultiTransaction = () => options.beforeMultiTransaction?.(userId, batchId, call);
    const committed = await commitTask({ ...context, userId }, { changes, beforeMultiTransaction });
    for (const id of jobIds) rows.set(id, committed.jobs.get(id) ?? (rows.get(id) as JobRow));
    const ended = [...rows.values()].filter(({ status }) => status !== 'CANCELED');
    return {
      jobs: [...rows.values()].filter(({ status }) => status === 'CANCELED').map(jobOf),
      errors: Object.fromEntries([
        ...unknown.map((id) => [id, 'The batch has no such job.']),
        ...ended.map(({ id, status }) => [id, `The job is ${status} and cannot be canceled.`]),
      ]),
    };
  };
}
