/**
 * Creates batches and jobs for calls of users, as atomically and repeatably as apply-events.ts does
 * for events.
 */

import { randomUUID } from 'node:crypto';
import { AlreadyExists, CorruptData, PayloadTooLarge, Unfinished } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import type { Db } from '../dynamodb/db.ts';
import { batchGet } from '../dynamodb/reads.ts';
import { WritePace } from '../dynamodb/write-pace.ts';
import { effectiveLimits } from '../limits/limits-of-subjects.ts';
import { withTexts } from '../rows/constants.ts';
import { commitTasks } from './commit-tasks.ts';
import { batchContent, type Creation, creationChanges, jobContent, recordOfBeginning } from './creation.ts';
import type { ProcessedCall } from './draft.ts';
import { lazyValue } from './lazy-value.ts';
import type { LifecycleTable } from './lifecycle-db.ts';
import { recoveryDelaySeconds, type ScheduleRecovery } from './schedule-recovery.ts';
import { processedCall, processedEventKey } from './transaction.ts';
import { writerLock } from './writer-lock.ts';

/** Without a key all ids are new, so nothing can exist yet. */
const keyUsedBefore = 'The idempotency key was used before, with another body.';

/** The errors of jobs that were canceled because the call that added them did not add all. */
const givenUp = ['The call that added this job did not come to its end.'];

const tooManyJobs =
  'There was no time for all jobs, and those that were added are being canceled: send fewer in a call, or send an Idempotency-Key, so that a repetition goes on.';

/** What a call asks for: a new batch (`create`) with its jobs, or further jobs for a batch. */
export interface RequestedCreation extends Omit<Creation, 'time' | 'callId'> {
  /** The call, where it may be repeated: remembered as an event is, for 15 days. */
  readonly request?: ProcessedCall | undefined;
  /** The project of a batch that jobs are added to: its limits hold beside the user's. */
  readonly projectId?: string;
}

/** The batch, and the jobs that were asked for, in this order; with their constants. */
export interface CreatedRows {
  readonly batch: BatchRow;
  readonly jobs: readonly JobRow[];
}

/** A creation also reads limits. */
export type CreationDb = Db<LifecycleTable | 'Limits'>;

/**
 * What is remembered of a call: empty if it was not made before. Throws AlreadyExists if another
 * call used its key. 2 read units.
 */
export async function callsBefore(db: Db<'Columns'>, userId: string, request: ProcessedCall): Promise<ProcessedCall[]> {
  const ids = [request.id, recordOfBeginning(request).id];
  const keys = ids.map((id) => ({ user_id: userId, key: processedEventKey(id) }));
  const items = await batchGet(db, { table: 'Columns', keys, consistent: true });
  const calls = items.map((item) => processedCall(String(item.key), item));
  if (calls.some(({ digest }) => digest !== request.digest)) {
    throw new AlreadyExists('idempotency_key_reused', keyUsedBefore);
  }
  return calls;
}

/**
 * Creates what a call asks for and returns the rows, without a read after the last write. Throws
 * NotFound when the user has no such batch for the jobs; IllegalTransition when that batch is
 * closed or has ended; AlreadyExists when the same request came with other content; LimitExceeded
 * when the user has more projects or device types than its lists can distinguish; TooBusy;
 * Unfinished.
 *
 * After Unfinished, the same request goes on. A call without a request cannot be continued:
 * PayloadTooLarge is thrown instead, and the recovery cancels what was begun.
 *
 * Write units, for rows up to 1 KB: what `applyEvents` takes for a batch and its jobs; 2 for each
 * KB of a sequence, and of gzipped constants that lie apart; 2 for the memory of a request, 4 if it
 * takes several transactions; under another name than before, 2 for each of the user's projects, up
 * to 21. If one transaction does not hold it all, the batch says so (`creating`, `pending_calls`)
 * until the last one.
 */
export async function requestCreation(
  db: CreationDb,
  userId: string,
  requested: RequestedCreation,
  scheduleRecovery?: ScheduleRecovery,
): Promise<CreatedRows> {
  const { request, projectId, ...content } = requested;
  const { batchId, create, jobs } = content;
  const time = fromMilliseconds(db.clock.now());
  const callId = request?.id ?? randomUUID();
  const job_ids = jobs.map(({ id }) => id);
  const call = create === undefined ? { id: callId, job_ids, errors: givenUp } : undefined;
  const pace = new WritePace(db.clock);
  const lock = writerLock(db, { userId, isOver: () => pace.isOver() });
  const limits = limitsOfCreation(db, userId, requested);
  const event = request && { ...request, batchId, time };
  const committed = await commitTasks(db, { userId, pace, lock, limits }, [
    {
      changes: creationChanges(userId, { ...content, callId, time }, event),
      announce: () => scheduleRecovery?.({ userId, batchId, call }, recoveryDelaySeconds),
    },
  ]);
  const [error] = committed.errors;
  if (error instanceof AlreadyExists)
    throw new AlreadyExists('idempotency_key_reused', keyUsedBefore, { cause: error });
  if (error instanceof Unfinished && request === undefined) {
    // If this fails, what was sent before the first transaction comes ten minutes after that.
    await scheduleRecovery?.({ userId, batchId, call }, 0).catch(() => {});
    throw new PayloadTooLarge(tooManyJobs, { cause: error });
  }
  if (error !== undefined) throw error;
  const batch = committed.batches.get(batchId);
  const rows = jobs.flatMap((job) => {
    const row = committed.jobs.get(job.id);
    return row === undefined ? [] : [withTexts(row, jobContent(job))];
  });
  if (batch === undefined || rows.length !== job_ids.length) {
    throw new CorruptData(`Rows of the batch ${batchId} are missing after their creation.`);
  }
  return { batch: create === undefined ? batch : withTexts(batch, batchContent(create)), jobs: rows };
}

/** Read where the creation begins, if it begins. */
function limitsOfCreation(db: Db<'Limits'>, userId: string, { create, projectId }: RequestedCreation) {
  return lazyValue(() => effectiveLimits(db, userId, create?.project_id ?? projectId));
}

/**
 * Throws what requestCreation would throw for this request, and stores nothing. It checks only the
 * first of several transactions: that one checks limits, the batch and its device for all jobs. A
 * call that was made before would go on, so nothing refuses it. With a request, 2 read units more.
 */
export async function tryCreation(db: CreationDb, userId: string, requested: RequestedCreation): Promise<void> {
  // Sequences of their own would be too much for one transaction.
  const { sequences, request, projectId, ...rest } = requested;
  if (request !== undefined && (await callsBefore(db, userId, request)).length > 0) return;
  const creation = { ...rest, callId: randomUUID(), time: fromMilliseconds(db.clock.now()) };
  const changes = creationChanges(userId, creation).slice(0, 1);
  const limits = limitsOfCreation(db, userId, requested);
  const { errors } = await commitTasks(db, { userId, limits, dryRun: true }, [{ changes }]);
  if (errors[0] !== undefined) throw errors[0];
}
