/**
 * Writes what machines report by events. Rows, sequences, counts, columns and sets change together,
 * in transactions that are conditional on everything they were decided from. Readers always find
 * them in agreement, whatever writers do at the same time.
 */

import type { LifecycleEvent } from '../../schemas/lifecycle-event.ts';
import { endOfJobs } from '../../statuses.ts';
import type { BatchOfUser } from '../rows/batches.ts';
import { listJobIds } from '../rows/jobs.ts';
import type { CommitContext } from './commit-changes.ts';
import { commitTasks, type Task } from './commit-tasks.ts';
import type { Change } from './draft.ts';
import { endJobsChanges } from './end-jobs.ts';
import { eventChanges } from './event-changes.ts';
import type { LifecycleDb } from './lifecycle-db.ts';
import { recoveryDelaySeconds, type ScheduleRecovery } from './schedule-recovery.ts';

/**
 * Makes the changes that events of one owner ask for, in this order, as many in one transaction as
 * it holds. Returns for each event why it is refused, or undefined:
 * - any event: InvalidInput when it is more than 5 minutes in the future;
 * - `batch.created`: AlreadyExists when the batch exists with other content or without these jobs,
 *   or a job with other content or in another batch; LimitExceeded when the owner uses more
 *   projects or device types than lists can distinguish. The batch's `seq` goes on from the owner's
 *   last, its `created_at` is the event's time or one microsecond after the owner's latest, and its
 *   jobs count from 0. What exists with the same content stays as it is;
 * - `jobs.added`: NotFound without the batch, IllegalTransition when it was closed before,
 *   AlreadyExists for jobs as above. Jobs that exist with the same content are passed over;
 * - `batch.updated`, `job.updated`: NotFound; IllegalTransition for a second final status;
 *   InvalidInput when `results_key` is not the owner's own. Statuses only move forward, by the
 *   stages in statuses.ts, and may skip some. A final one closes the batch.
 *
 * Every change
 * - is atomic: its change is made in full or not at all. Only the creation of many jobs at once
 *   (about 80), and the end of a batch with many (about 60), take several transactions, in their
 *   order; the batch's counts are right after each. A batch that ends is closed and has its status
 *   first, then its jobs end.
 * - can be repeated: the same event again does only what is not done yet. After a failure, repeat
 *   the call.
 * - waits for other writers: after a conflict it is tried again for about 2 s, then it gets
 *   TooBusy, also when DynamoDB throttles.
 * - that gets an error was not made. The exception is a timeout or internal DynamoDB
 *   error, returned after the third: the change may then have been made in full; repeat the call to
 *   find out.
 *
 * A change takes effect at the event's time. So the same events leave the
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
 * - 2 more for what ends on one day, of one project and device type (usage.ts);
 * - a batch: 6, and 2 for each tag; 2 more for its owner's first one in a project;
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
export async function applyEvents(
  db: LifecycleDb,
  events: readonly LifecycleEvent[],
  { scheduleRecovery, shotsOf }: EventOptions = {},
): Promise<(Error | undefined)[]> {
  const [userId, ...others] = new Set(events.map((event) => event.user_id));
  if (userId === undefined) return [];
  if (others.length > 0) throw new RangeError('Only events of one owner can be applied together.');
  const tasks = events.map((event): Task | Error => {
    try {
      const changes = eventChanges(userId, event, db.clock.now());
      if (!endsJobs(event)) return { changes };
      return endOfJobsTask(db, { userId, batchId: event.data.batch_id }, { changes, scheduleRecovery });
    } catch (error) {
      return error as Error;
    }
  });
  const { errors } = await commitTasks(
    db,
    { userId, shotsOf, source: 'events' },
    tasks.map((task) => (task instanceof Error ? { changes: [] } : task)),
  );
  return tasks.map((task, at) => (task instanceof Error ? task : errors[at]));
}

interface EventOptions extends Pick<CommitContext, 'shotsOf'> {
  readonly scheduleRecovery?: ScheduleRecovery | undefined;
}

/** The changes that end a batch, and the end of its jobs. */
function endOfJobsTask(
  db: LifecycleDb,
  of: BatchOfUser,
  { changes, scheduleRecovery }: { readonly changes: readonly Change[] } & EventOptions,
): Task {
  const { batchId } = of;
  return {
    changes: async () => [...changes, ...endJobsChanges({ batchId, jobIds: await listJobIds(db, of) })],
    announce: () => scheduleRecovery?.(of, recoveryDelaySeconds),
  };
}

type BatchUpdated = Extract<LifecycleEvent, { type: 'batch.updated' }>;

function endsJobs(event: LifecycleEvent): event is BatchUpdated {
  if (event.type !== 'batch.updated' || event.data.status === undefined) return false;
  return endOfJobs(event.data.status) !== null;
}
