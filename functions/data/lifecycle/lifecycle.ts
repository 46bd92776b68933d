/**
 * The write side: every change of batches and jobs. Rows, sequences, counts, columns and sets
 * change together, in transactions that are conditional on everything they were decided from.
 * Readers find them in agreement, whatever writers do at the same time.
 */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { TooBusy } from '../../errors.ts';
import type { LifecycleEvent } from '../../schemas/lifecycle-event.ts';
import type { InterruptedCall } from '../../schemas/recovery-request.ts';
import { endOfJobs } from '../../statuses.ts';
import { type OwnerLists, ownerLists } from '../columns/lists.ts';
import { listJobIds } from '../jobs.ts';
import { commitChanges } from './commit-changes.ts';
import type { Change, Owner } from './draft.ts';
import { endJobsChanges, JobsLeft, mostAttempts } from './end-jobs.ts';
import { eventChanges } from './event-changes.ts';
import type { LifecycleTables } from './transaction.ts';
import type { BatchUpdate } from './update-row.ts';

export interface LifecycleOptions {
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Tests force many small blocks. */
  readonly rowsPerBlock?: number;
  /** Tests write lists of other descriptions. */
  readonly lists?: OwnerLists;
  /**
   * Awaited before a change of a batch that may take several transactions, so that someone else can
   * complete what a crash leaves half-done. A call that does not change the batch as a whole says
   * which of its jobs it changes.
   */
  readonly beforeMultiTransaction?: (userId: string, batchId: string, call?: InterruptedCall) => Promise<void>;
}

/**
 * Every function
 * - is atomic: its change is made in full or not at all. Only the creation of many jobs at once
 *   (about 80), and the end of a batch with many (about 60), take several changes, in their order;
 *   the batch's counts are right after each. A batch that ends is closed and has its status first,
 *   then its jobs end.
 * - can be repeated: the same call again does only what is not done yet. After a failure, repeat
 *   the call.
 * - waits for other writers: after a conflict it tries again for about 2 s, then throws TooBusy. It
 *   does the same when DynamoDB throttles.
 * - If a call throws, its change was not made. The exception is a timeout or internal DynamoDB
 *   error, rethrown after the third: the change may then have been made in full; repeat the call to
 *   find out.
 *
 * A change that an event asks for takes effect at the event's time. So the same events leave the
 * same rows, whatever order they arrive in:
 * - If two events set the same field, the later time wins; of equal times, the later arrival.
 * - An end of a batch ends its jobs, and their ends end it; what an event says of either itself
 *   wins over what follows from the other, whenever it comes (see derive-status.ts). So a job that
 *   an ended batch has made CANCELED is still DONE once its own event says so.
 * - An event that would move a status backwards changes no status and is no error. Only a second,
 *   different final status is: it throws IllegalTransition.
 * - Jobs may be added to a batch that was closed later than the event.
 * - Only places (`seq`, `creation_order`) follow the order of arrival.
 *
 * An event is carried out once: it is remembered for 15 days, in the transaction that carries it
 * out (2 write units). Another event of the same id throws AlreadyExists. After that time, a
 * repeated event still changes nothing that a newer event has set.
 *
 * Write units, for rows up to 1 KB:
 * - a status with a time: 10 for a batch, 16 for a job (18 with both times), 4 less for one of the
 *   newest 16; a batch that ends with its jobs: 6 more for each, and 6 more for each 30 that were
 *   created together;
 * - a batch: 6, and 2 for each tag;
 * - the jobs of one call: 4 together, and 6 for each; from 16 on up to 32 together;
 * - with every 16th batch 12 more, with every 16th job 16 more, to move the tail to the blocks.
 * - a change of an old row 2 or 4 more for each column whose block is sealed, to delete the
 *   summary: 6 to 8 for a status with a time. Changes made together share what they have in
 *   common.
 *
 * A consumer seals old rows later (seal-segments.ts): about 280 for each 4,608 batches and 310 for
 * as many jobs (0.06 and 0.07 a row), and as much again where changes of old rows have deleted all
 * summaries of a segment since.
 */
export function lifecycle(
  client: DynamoDBDocumentClient,
  tables: LifecycleTables,
  { now = Date.now, rowsPerBlock, lists = ownerLists(rowsPerBlock), beforeMultiTransaction }: LifecycleOptions = {},
) {
  const ownerOf = (userId: string): Owner => ({ userId, lists });
  const jobIdsOf = listJobIds(client, tables, lists);

  return {
    /**
     * Ends the jobs of a batch that has ended, where a call that ended it died on its way. Throws
     * NotFound.
     */
    async endJobs(userId: string, batchId: string): Promise<void> {
      const [error] = await carryOutTasks(userId, [{ operations: [], endedBatch: batchId }]);
      if (error !== undefined) throw error;
    },

    /**
     * Makes the changes that events of one owner ask for, in this order, as many in one transaction
     * as it holds. Returns for each event why it is refused, if it is: InvalidInput for an event
     * that is more than 5 minutes ahead, otherwise
     * - `batch.created`: AlreadyExists when the batch exists with other content or without these
     *   jobs, or a job with other content or in another batch; LimitExceeded when the owner uses
     *   more projects or device types than lists can distinguish. The batch's `seq` follows the
     *   owner's last, its `created_at` is the event's time or one microsecond after the owner's
     *   latest, and its jobs count from 0. What exists with the same content stays as it is.
     * - `jobs.added`: NotFound without the batch, IllegalTransition when it was closed before,
     *   AlreadyExists for jobs as above. Jobs that exist with the same content are passed over.
     * - `batch.updated`, `job.updated`: NotFound; IllegalTransition for a second final status;
     *   InvalidInput when `results_key` is not the owner's own. Statuses only move forward, by the
     *   stages in statuses.ts, and may skip some. A final one closes the batch.
     */
    async applyEvents(events: readonly LifecycleEvent[]): Promise<(Error | undefined)[]> {
      const [userId, ...others] = new Set(events.map((event) => event.user_id));
      if (userId === undefined) return [];
      if (others.length > 0) throw new RangeError('Only events of one owner can be applied together.');
      const tasks = events.map((event) => {
        try {
          const ended = event.type === 'batch.updated' ? endedBatch(event.data.batch_id, event.data) : undefined;
          return { operations: eventChanges(ownerOf(userId), event, now()), endedBatch: ended, error: undefined };
        } catch (error) {
          return { operations: [], endedBatch: undefined, error: error as Error };
        }
      });
      const errors = await carryOutTasks(userId, tasks);
      return tasks.map(({ error }, at) => error ?? errors[at]);
    },
  };

  /**
   * As commitChanges does; with a task that ends a batch, its jobs end, in the same transaction
   * where it holds them.
   */
  async function carryOutTasks(userId: string, tasks: readonly Task[]): Promise<(Error | undefined)[]> {
    const carryOutWithJobs = async (some: readonly Task[]) => {
      const operations = await Promise.all(some.map((task) => operationsOf(userId, task)));
      const announce = async (task: number) => {
        const batchId = some[task]?.endedBatch;
        if (batchId !== undefined) await beforeMultiTransaction?.(userId, batchId);
      };
      return commitChanges({ ...ownerOf(userId), client, tables, now, beforeMultiTransaction: announce }, operations);
    };
    const errors = await carryOutWithJobs(tasks);
    for (let attempt = 1; attempt < mostAttempts; attempt++) {
      const left = [...errors.keys()].filter((at) => errors[at] instanceof JobsLeft);
      if (left.length === 0) break;
      const again = await carryOutWithJobs(left.map((at) => tasks[at] as Task));
      for (const [place, at] of left.entries()) errors[at] = again[place];
    }
    return errors.map((error) => (error instanceof JobsLeft ? new TooBusy(error.message) : error));
  }

  async function operationsOf(userId: string, { operations, endedBatch: batchId }: Task): Promise<readonly Change[]> {
    if (batchId === undefined) return operations;
    const jobIds = await jobIdsOf(userId, batchId);
    return [...operations, ...endJobsChanges(lists, { batchId, jobIds })];
  }
}

/** Operations that follow each other, and the batch that they end with its jobs, if they do. */
interface Task {
  readonly operations: readonly Change[];
  readonly endedBatch?: string | undefined;
}

function endedBatch(batchId: string, { status }: Pick<BatchUpdate, 'status'>): string | undefined {
  return status !== undefined && endOfJobs(status) !== null ? batchId : undefined;
}
