/**
 * The write side: every change of batches and jobs. Rows, sequences, counts, columns and sets change together, in one transaction
 * each, conditional on everything it was decided from: whatever writers do at the same time, readers always find them in agreement.
 */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { CorruptData, InvalidInput, NotFound } from '../../errors.ts';
import { BatchRow } from '../../schemas/batch-row.ts';
import { JobRow } from '../../schemas/job-row.ts';
import type { NewBatch, NewJob } from '../../schemas/lifecycle-event.ts';
import type { TableNames } from '../../tables.ts';
import { fromMicroseconds } from '../../timestamp.ts';
import { headKey } from '../lists/column-items.ts';
import { ownerLists } from '../lists/owner-lists.ts';
import { tableReads } from '../lists/table-reads.ts';
import { storedRow } from '../stored-row.ts';
import { optimistically } from './attempts.ts';
import type { Change, EventMark } from './change.ts';
import { type Creation, draftOf, type Place, type Portion, portionsFrom, type Stored } from './creation.ts';
import { type BatchUpdate, type JobUpdate, updatedRow, type Word } from './row-update.ts';
import { headOfItem, readColumnItems, transactionOf } from './transaction.ts';

export interface LifecycleOptions {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Tests force many small blocks. */
  readonly rowsPerBlock?: number;
}

/** The event that asks for a change. Without one, a change is asked for directly and is now. */
export interface Event extends EventMark {
  readonly time: string;
}

/** A batch to create, and when (else now). */
export type BatchToCreate = NewBatch & { readonly created_at?: string };

/**
 * All functions
 * - are atomic: a change is there wholly or not at all (createBatch and addJobs with more than about 60 jobs: in several steps, each
 *   such a change, in order);
 * - can be repeated: the same call again, also after a failure of unknown outcome, changes nothing that is done already;
 * - wait for each other: a conflict with another writer is retried for about 1.5 s, then TooBusy is thrown; so it is when DynamoDB
 *   throttles. Whatever is thrown, the step that it stopped has changed nothing, unless the failure was a timeout or
 *   DynamoDB's own, thrown as it came after three attempts: then it may have changed everything, and a repetition tells.
 *
 * Given an event, a change counts from the event's time, and the event is remembered for 15 days in the same transaction (the last, of
 * several): it is not carried out twice, and AlreadyExists is thrown for another event of the same id.
 *
 * Write units as DynamoDB counts them: status of a batch 10, of a job 18 (times included), a batch 14 and 2 for each tag, its jobs
 * 16 to 32 together and 6 each; 2 for an event. Rows over 1 KB cost more.
 */
export function lifecycle(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns'>,
  { now = Date.now, rowsPerBlock }: LifecycleOptions = {},
) {
  const lists = ownerLists(rowsPerBlock);
  const { get, batchGet } = tableReads(client);

  return {
    /**
     * Creates batches with their jobs, in this order: `seq` goes on from the owner's last, `created_at` is the given time, or one
     * microsecond after the owner's latest when that is not earlier; `creation_order` counts a batch's jobs from 0. As many whole
     * batches as fit are one transaction, so that many cost less than one by one.
     *
     * A batch that exists with the same content is left as it is (its tags, openness and states may have changed since), and
     * jobs that an interrupted call left out are added. Throws AlreadyExists when the batch exists with other content or
     * without these jobs, or a job with other content or in another batch; batches before it are created then.
     */
    createBatches,

    /** createBatches with one batch. */
    async createBatch(userId: string, batch: BatchToCreate, event?: Event): Promise<void> {
      await createBatches(userId, [batch], event);
    },

    /**
     * Adds jobs to a batch, after those it has, in this order; jobs that exist already with the same content are passed over.
     * Throws NotFound when there is no such batch, IllegalTransition when it is closed (and was so at the event's time), AlreadyExists
     * when a job exists with other content or in another batch.
     */
    async addJobs(userId: string, batchId: string, jobs: readonly NewJob[], event?: Event): Promise<void> {
      const time = event?.time ?? fromMicroseconds(now() * 1000);
      await create(userId, [{ batchId, jobs, time }], event);
    },

    /**
     * Records what became of a batch. Statuses only move forward: PENDING, then RUNNING or PAUSED in turns, then CANCELING, then for
     * ever DONE, CANCELED, TIMED_OUT or ERROR; steps may be skipped. Throws NotFound; IllegalTransition for a move backward or out
     * of a final status. An event that is behind what the batch has reached is not an error: of what it says, that counts which no
     * newer event has said otherwise; only a second, different final status is refused.
     */
    async recordBatchStatus(
      userId: string,
      batchId: string,
      update: Pick<BatchUpdate, 'status' | 'start_datetime' | 'end_datetime' | 'device_status'>,
      event?: Event,
    ): Promise<void> {
      await updateBatch(userId, batchId, update, event);
    },

    /** Replaces a batch's tags. Throws NotFound. */
    async setTags(userId: string, batchId: string, tags: readonly string[], event?: Event): Promise<void> {
      await updateBatch(userId, batchId, { tags: [...new Set(tags)] }, event);
    },

    /** Closes a batch for further jobs, for ever. Throws NotFound. */
    async closeBatch(userId: string, batchId: string, event?: Event): Promise<void> {
      await updateBatch(userId, batchId, { open: false }, event);
    },

    /** Status, tags, times and openness of a batch in one change, with the rules of recordBatchStatus. */
    updateBatch,

    /**
     * Records what became of a job; its batch's counts move with it. Statuses only move forward: PENDING, RUNNING, CANCELING, then for
     * ever DONE, ERROR or CANCELED; steps may be skipped. Throws NotFound, and IllegalTransition as recordBatchStatus does;
     * InvalidInput when `results_key` is not below the owner's own `results/{user_id}/`.
     */
    async recordJobStatus(userId: string, jobId: string, update: JobUpdate, event?: Event): Promise<void> {
      requireOwnResults(userId, update.results_key);
      const word = wordOf(event);
      await write(userId, event, async () => {
        const item = await get(tables.Jobs, { user_id: userId, id: jobId }, true);
        if (item === undefined) throw new NotFound(`There is no job ${jobId}.`);
        const before = storedRow(JobRow, item);
        const after = updatedRow(before, update, word);
        if (after === before) return undefined;
        const rows: Change['rows'] = [{ list: lists.job, before, after }];
        if (after.status === before.status) return { rows, heads: [] };
        const batch = await readBatch(userId, before.batch_id);
        if (batch === undefined) throw new CorruptData(`The batch of the job ${jobId} is missing.`);
        return {
          rows: [...rows, { list: lists.batch, before: batch, after: recounted(batch, before, after) }],
          heads: [],
        };
      });
    },
  };

  async function createBatches(userId: string, batches: readonly BatchToCreate[], event?: Event): Promise<void> {
    const time = event?.time ?? fromMicroseconds(now() * 1000);
    const creations = batches.map(({ jobs, created_at, ...create }) => ({
      batchId: create.id,
      create,
      jobs,
      time: created_at ?? time,
    }));
    await create(userId, creations, event);
  }

  async function updateBatch(userId: string, batchId: string, update: BatchUpdate, event?: Event): Promise<void> {
    const word = wordOf(event);
    await write(userId, event, async () => {
      const before = await readBatch(userId, batchId);
      if (before === undefined) throw new NotFound(`There is no batch ${batchId}.`);
      const after = updatedRow(before, update, word);
      return after === before ? undefined : { rows: [{ list: lists.batch, before, after }], heads: [] };
    });
  }

  async function readBatch(userId: string, batchId: string): Promise<BatchRow | undefined> {
    const item = await get(tables.Batches, { user_id: userId, id: batchId }, true);
    return item === undefined ? undefined : storedRow(BatchRow, item);
  }

  function wordOf(event: Event | undefined): Word {
    return { time: event?.time ?? fromMicroseconds(now() * 1000), event: event !== undefined };
  }

  /** Carries out the change that `decide` finds necessary, if any. */
  async function write(userId: string, event: Event | undefined, decide: () => Promise<Change | undefined>) {
    await optimistically(client, async () => {
      const change = await decide();
      if (change === undefined) return { result: undefined };
      const transaction = await transactionOf(client, tables, userId, { ...change, mark: event }, now());
      return { transaction, result: undefined };
    });
  }

  async function create(userId: string, creations: readonly Creation[], event: Event | undefined): Promise<void> {
    requireDistinctJobs(creations);
    let place: Place = { batch: 0, job: 0 };
    while (place.batch < creations.length) {
      const from = place;
      place = await optimistically(client, async () => {
        const portions = portionsFrom(creations, from);
        const stored = await readStored(userId, portions);
        const { rows, heads, next } = draftOf(lists, userId, portions, stored, from);
        if (rows.length === 0) return { result: next };
        const changedHeads = (['batch', 'job'] as const)
          .map((name) => ({ list: lists[name], before: stored.heads[name], after: heads[name] }))
          .filter(({ before, after }) => after.next_seq !== (before?.next_seq ?? 0));
        const mark = next.batch === creations.length ? event : undefined;
        const change: Change = { rows, heads: changedHeads, mark };
        return { transaction: await transactionOf(client, tables, userId, change, now()), result: next };
      });
    }
  }

  async function readStored(userId: string, portions: readonly Portion[]): Promise<Stored> {
    const key = (id: string) => ({ user_id: userId, id });
    const batchIds = new Set(portions.map(({ creation }) => creation.batchId));
    const jobIds = new Set(portions.flatMap(({ jobs }) => jobs.map((job) => job.id)));
    const [columns, batches, jobs] = await Promise.all([
      readColumnItems(client, tables, userId, [headKey(lists.batch), headKey(lists.job)]),
      batchGet(tables.Batches, Array.from(batchIds, key), true),
      batchGet(tables.Jobs, Array.from(jobIds, key), true),
    ]);
    return {
      heads: {
        batch: headOfItem(columns.get(headKey(lists.batch))),
        job: headOfItem(columns.get(headKey(lists.job))),
      },
      batches: new Map(batches.map((item) => [String(item.id), storedRow(BatchRow, item)])),
      jobs: new Map(jobs.map((item) => [String(item.id), storedRow(JobRow, item)])),
    };
  }
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

/** A link is signed for whatever key a job names: that of another owner must never get there. */
function requireOwnResults(userId: string, key: string | null | undefined) {
  const prefix = `results/${userId}/`;
  if (typeof key !== 'string' || (key.startsWith(prefix) && key.length > prefix.length)) return;
  throw new InvalidInput([{ loc: ['results_key'], msg: `Input should be below ${prefix}`, type: 'value_error' }]);
}

function requireDistinctJobs(creations: readonly Creation[]) {
  for (const { batchId, jobs } of creations) {
    if (new Set(jobs.map((job) => job.id)).size === jobs.length) continue;
    throw new InvalidInput([{ loc: ['jobs'], msg: `The batch ${batchId} has a job twice`, type: 'value_error' }]);
  }
}
