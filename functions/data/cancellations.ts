/**
 * What users cancel in one call: several batches, or jobs of a batch. What cannot be canceled is
 * reported, and stops nothing.
 */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { IllegalTransition, NotFound } from '../errors.ts';
import type { Batch } from '../schemas/batch.ts';
import { type Job, JobProjection, type JobRow } from '../schemas/job.ts';
import type { CancelJobsQuery } from '../schemas/job-selection.ts';
import { isFinalJob } from '../statuses.ts';
import type { TableNames } from '../tables.ts';
import { fromMicroseconds } from '../timestamp.ts';
import { derivedUuid } from '../uuid.ts';
import { batchOf, getBatch } from './batches.ts';
import { ownerLists } from './columns/lists.ts';
import { storedRow } from './dynamodb/stored-row.ts';
import { cancelBatch, cancelJobsOperations } from './lifecycle/cancel.ts';
import { commitChanges, OutOfTime } from './lifecycle/commit-changes.ts';
import { visibleJob } from './lifecycle/draft.ts';
import type { LifecycleOptions } from './lifecycle/lifecycle.ts';
import { changesOfCall, endOfCall } from './lifecycle/pending-calls.ts';
import { selectJobs } from './selected-jobs.ts';

/** Why things were not canceled, by their ids. */
type Reasons = Readonly<Record<string, string>>;

export interface BatchesCancellationOptions extends LifecycleOptions {
  /** Leaves a batch that is being canceled to someone else, who goes on at once. */
  readonly handOver?: (userId: string, batchId: string) => Promise<void>;
}

/**
 * The function that cancels batches, each as cancelBatch does: first all as far as one transaction
 * goes, so that each is closed and small ones are canceled; then it completes the others, one after
 * the other. Those that there is no time for are handed over. Reported are batches that the user
 * does not have, those that have ended otherwise, and those that are not canceled yet. Throws what
 * else cancelBatch throws: then some of them may be canceled, and the same call goes on.
 */
export function cancelBatches(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns' | 'DeviceQueue'>,
  { handOver, ...options }: BatchesCancellationOptions = {},
): (
  userId: string,
  batchIds: readonly string[],
  hasTime?: () => boolean,
) => Promise<{ batches: Batch[]; errors: Reasons }> {
  const cancel = cancelBatch(client, tables, options);
  return async (userId, batchIds, hasTime = () => true) => {
    const canceled = new Map<string, Batch>();
    const errors = new Map<string, string>();
    /** Returns whether the batch is to be gone on with. */
    const goesOn = async (id: string, hasTimeForIt: () => boolean): Promise<boolean> => {
      try {
        canceled.set(id, batchOf(await cancel(userId, id, hasTimeForIt)));
      } catch (error) {
        if (error instanceof OutOfTime) return true;
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
 * The function that cancels those jobs of a batch that a query selects, and returns all that are
 * canceled now. Reported are ids of jobs that the batch does not have, and jobs that have ended
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
  const { now = Date.now, rowsPerBlock, lists = ownerLists(rowsPerBlock), beforeMultiTransaction } = options;
  const get = getBatch(client, tables);
  const select = selectJobs(client, tables, lists);
  return async (userId, batchId, query) => {
    const [batch, { jobs, unknown }] = await Promise.all([get(userId, batchId), select(userId, batchId, query)]);
    if (batch === undefined) throw new NotFound('There is no such batch.');
    requireRoom?.(jobs.map(jobOf));
    const rows = new Map(jobs.map((job) => [job.id, job]));
    const jobIds = jobs.filter((job) => !isFinalJob(job)).map(({ id }) => id);
    const cancel = cancelJobsOperations({ lists, batchId, jobIds, now: fromMicroseconds(now() * 1000) });
    // The same for a repetition, which so ends what has begun.
    const callId = derivedUuid(['cancel', batchId, query]);
    const call = { id: callId, job_ids: jobIds, errors: null };
    const ofCall = { batchId, callId };
    const operations = jobIds.length === 0 ? [endOfCall(lists, ofCall)] : changesOfCall(lists, ofCall, cancel);
    const [error] = await commitChanges(
      {
        client,
        tables,
        userId,
        lists,
        now,
        beforeMultiTransaction: async () => beforeMultiTransaction?.(userId, batchId, call),
        onCommitted(draft) {
          for (const id of jobIds) rows.set(id, visibleJob(draft, id) ?? (rows.get(id) as JobRow));
        },
      },
      [operations],
    );
    if (error !== undefined) throw error;
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

function jobOf(row: JobRow): Job {
  return storedRow(JobProjection, { ...row });
}
