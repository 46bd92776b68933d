/**
 * The write side: every change of batches and jobs. Rows, sequences, counts, columns and sets change together, in transactions that
 * are conditional on everything they were decided from: whatever writers do at the same time, readers find them in agreement.
 */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { InvalidInput } from '../../errors.ts';
import type { NewBatch } from '../../schemas/batch.ts';
import type { NewJob } from '../../schemas/job.ts';
import type { LifecycleEvent } from '../../schemas/lifecycle-event.ts';
import { fromMicroseconds } from '../../timestamp.ts';
import { ownerLists } from '../columns/lists.ts';
import { carryOut } from './carry-out.ts';
import { creationOperations } from './creation.ts';
import type { Event, Operation } from './draft.ts';
import { eventTask } from './event-task.ts';
import type { BatchUpdate, JobUpdate } from './row-update.ts';
import type { LifecycleTables } from './transaction.ts';
import { batchUpdate, jobUpdate } from './update.ts';

export type { Event } from './draft.ts';

export interface LifecycleOptions {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Tests force many small blocks. */
  readonly rowsPerBlock?: number;
}

/** A batch to create, and when (else now). */
export type BatchToCreate = NewBatch & { readonly created_at?: string };

/**
 * All functions
 * - are atomic: a change is there wholly or not at all. Only the creation of more than 50 jobs at once takes several such changes, in
 *   their order; the batch's counts are right after each;
 * - can be repeated: the same call again, also after a failure of unknown outcome, does only what is not done yet;
 * - wait for each other: a conflict with another writer is tried again for about 1.5 s, then TooBusy is thrown; so it is when
 *   DynamoDB throttles. Whatever is thrown, the change that it stopped is not there, unless it is a timeout or an internal error
 *   of DynamoDB, thrown as it came the third time: then it may be there wholly, and a repetition tells.
 *
 * Asked for by an event, a change counts from the event's time, so that the same events in any order leave the same rows: of two that
 * set the same thing the later counts, whichever comes first; what is behind the status that was reached changes no status
 * and is no error (only a second, different final status is IllegalTransition); jobs may be added to a batch that was closed later than
 * the event. What events create is placed in the order of arrival. An event is remembered for 15 days in the transaction that
 * carries it out (2 write units): it is not carried out twice, and AlreadyExists is thrown for another event of the same id. Also
 * after that time a repetition changes nothing that a newer event has set.
 *
 * Cost in write units, rows up to 1 KB: a batch's status with a time 10, a job's 16 (18 with both times), a batch 14 and 2 for each
 * tag, its jobs 16 to 32 together and 6 each. Changes that are made together share what they have in common.
 */
export function lifecycle(
  client: DynamoDBDocumentClient,
  tables: LifecycleTables,
  { now = Date.now, rowsPerBlock }: LifecycleOptions = {},
) {
  const lists = ownerLists(rowsPerBlock);
  const present = () => fromMicroseconds(now() * 1000);

  return {
    /**
     * Creates batches with their jobs, in this order: `seq` goes on from the owner's last, `created_at` is the given time, or one
     * microsecond after the owner's latest when that is not earlier; `creation_order` counts a batch's jobs from 0. As many
     * batches as one transaction holds are created together: many cost less than one by one.
     *
     * A batch that exists with the same content is left as it is (its tags, openness and states may have changed since), and jobs
     * that an interrupted call left out are added. Throws AlreadyExists when a batch exists with other content or without these
     * jobs, or a job with other content or in another batch; the other batches are created all the same. Throws LimitExceeded
     * when the owner uses more projects or device types than can be told apart.
     */
    createBatches,

    /** createBatches with one batch. */
    async createBatch(userId: string, batch: BatchToCreate, event?: Event): Promise<void> {
      await createBatches(userId, [batch], event);
    },

    /**
     * Adds jobs to a batch, after those it has, in this order; jobs that exist already with the same content are passed over.
     * Throws NotFound when there is no such batch, IllegalTransition when it is closed, AlreadyExists when a job exists with other
     * content or in another batch.
     */
    async addJobs(userId: string, batchId: string, jobs: readonly NewJob[], event?: Event): Promise<void> {
      requireDistinct(batchId, jobs);
      const time = event?.time ?? present();
      await carryOutOne(userId, creationOperations(lists, userId, { batchId, jobs, time }, event));
    },

    /**
     * Records what became of a batch. Statuses only move forward: PENDING, then RUNNING or PAUSED in turns, then CANCELING, then for
     * ever DONE, CANCELED, TIMED_OUT or ERROR; steps may be skipped. Throws NotFound, and IllegalTransition for a move backward or
     * out of a final status.
     */
    async recordBatchStatus(
      userId: string,
      batchId: string,
      update: Pick<BatchUpdate, 'status' | 'start_datetime' | 'end_datetime' | 'device_status'>,
      event?: Event,
    ): Promise<void> {
      await carryOutOne(userId, [batchUpdate(lists, batchId, update, present(), event)]);
    },

    /** Replaces a batch's tags. Throws NotFound. */
    async setTags(userId: string, batchId: string, tags: readonly string[], event?: Event): Promise<void> {
      await carryOutOne(userId, [batchUpdate(lists, batchId, { tags: [...new Set(tags)] }, present(), event)]);
    },

    /** Closes a batch for further jobs, for ever. Throws NotFound. */
    async closeBatch(userId: string, batchId: string, event?: Event): Promise<void> {
      await carryOutOne(userId, [batchUpdate(lists, batchId, { open: false }, present(), event)]);
    },

    /**
     * Records what became of a job; its batch's counts move with it, in the same transaction. Statuses only move forward: PENDING,
     * RUNNING, CANCELING, then for ever DONE, ERROR or CANCELED; steps may be skipped. Throws NotFound, IllegalTransition for a move
     * backward or out of a final status, InvalidInput when `results_key` is not below the owner's own `results/{user_id}/`.
     */
    async recordJobStatus(userId: string, jobId: string, update: JobUpdate, event?: Event): Promise<void> {
      await carryOutOne(userId, [jobUpdate(lists, userId, jobId, update, present(), event)]);
    },

    /**
     * Makes the changes that events of one owner tell of, in this order, as many in one transaction as it holds. Returns for each
     * event what the function above that does the same would throw, or undefined; InvalidInput for an event more than 5 minutes
     * in the future.
     */
    async applyEvents(events: readonly LifecycleEvent[]): Promise<(Error | undefined)[]> {
      const [userId, ...others] = new Set(events.map((event) => event.user_id));
      if (userId === undefined) return [];
      if (others.length > 0) throw new RangeError('Only events of one owner can be applied together.');
      const tasks = events.map((event) => {
        try {
          return { task: eventTask(lists, event, now()), error: undefined };
        } catch (error) {
          return { task: [], error: error as Error };
        }
      });
      const errors = await carryOut(
        client,
        tables,
        lists,
        userId,
        tasks.map(({ task }) => task),
        now,
      );
      return tasks.map(({ error }, at) => error ?? errors[at]);
    },
  };

  async function createBatches(userId: string, batches: readonly BatchToCreate[], event?: Event): Promise<void> {
    const time = event?.time ?? present();
    const tasks = batches.map(({ jobs, created_at, ...create }, at) => {
      requireDistinct(create.id, jobs);
      const creation = { batchId: create.id, create, jobs, time: created_at ?? time };
      return creationOperations(lists, userId, creation, at === batches.length - 1 ? event : undefined);
    });
    const errors = await carryOut(client, tables, lists, userId, tasks, now);
    throwFirst(errors);
  }

  async function carryOutOne(userId: string, operations: readonly Operation[]): Promise<void> {
    throwFirst(await carryOut(client, tables, lists, userId, [operations], now));
  }
}

function throwFirst(errors: readonly (Error | undefined)[]): void {
  const error = errors.find((each) => each !== undefined);
  if (error !== undefined) throw error;
}

function requireDistinct(batchId: string, jobs: readonly NewJob[]): void {
  if (new Set(jobs.map((job) => job.id)).size === jobs.length) return;
  throw new InvalidInput([{ loc: ['jobs'], msg: `The batch ${batchId} has a job twice`, type: 'value_error' }]);
}
