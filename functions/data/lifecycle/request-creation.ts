/**
 * The creation of batches and jobs by the calls of users, as atomic and repeatable as that by
 * events (see apply-events.ts).
 */

import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { AlreadyExists, CorruptData, PayloadTooLarge, Unfinished } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import type { TableNames } from '../../tables.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import { batchGet } from '../dynamodb/reads.ts';
import { effectiveLimits } from '../limits/limits.ts';
import { commitTasks, type LifecycleOptions, writeContext } from './commit-tasks.ts';
import { type Creation, creationChanges, recordOfBeginning } from './creation.ts';
import type { ProcessedCall } from './draft.ts';
import { lazyValue } from './lazy-value.ts';
import { processedCall, processedEventKey } from './transaction.ts';
import { writerLock } from './writer-lock.ts';

/** Without a key all ids are new, so nothing can exist yet. */
const keyUsedBefore = 'The idempotency key was used before, with another body.';

/** What jobs say that were canceled because the call that added them did not add all. */
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

/** The batch, and the jobs that were asked for, in this order. */
export interface CreatedRows {
  readonly batch: BatchRow;
  readonly jobs: readonly JobRow[];
}

export type CreationTables = TableNames<
  'Batches' | 'Jobs' | 'Columns' | 'Sequences' | 'DeviceQueue' | 'Limits' | 'Usage' | 'Counters'
>;

/**
 * The function that reads what is remembered of a call: empty where it was not made before. Throws
 * AlreadyExists where another call had its key. 2 read units.
 */
export function callsBefore(client: DynamoDBDocumentClient, tables: TableNames<'Columns'>) {
  return async (userId: string, request: ProcessedCall): Promise<ProcessedCall[]> => {
    const ids = [request.id, recordOfBeginning(request).id];
    const keys = ids.map((id) => ({ user_id: userId, key: processedEventKey(id) }));
    const items = await batchGet(client, { table: tables.Columns, keys, consistent: true });
    const calls = items.map((item) => processedCall(String(item.key), item));
    if (calls.some(({ digest }) => digest !== request.digest)) {
      throw new AlreadyExists('idempotency_key_reused', keyUsedBefore);
    }
    return calls;
  };
}

/** How long a creation waits for other creations of the user: half of a function's time. */
const maxWaitMilliseconds = 14_000;

/**
 * The function that creates what a call asks for and returns the rows, without a read after the
 * last write. Throws NotFound and IllegalTransition where jobs are for no batch of the user or for
 * one that is closed or has ended; AlreadyExists when the same request came with other content;
 * LimitExceeded when the user has more projects or device types than its lists can distinguish;
 * TooBusy; Unfinished, which the same request goes on from. Without a request nobody could go on:
 * then what was begun is handed over, to be canceled, and PayloadTooLarge is thrown.
 *
 * Write units, for rows up to 1 KB: what `applyEvents` takes for a batch and its jobs; 2 for each
 * KB of a sequence; 2 for the memory of a request, 4 where it takes several transactions. Where one
 * transaction does not hold it all, the batch says so (`creating`, `pending_calls`) until the
 * last one.
 */
export function requestCreation(
  client: DynamoDBDocumentClient,
  tables: CreationTables,
  options: LifecycleOptions = {},
): (userId: string, requested: RequestedCreation) => Promise<CreatedRows> {
  const { newPace, ...context } = writeContext(client, tables, options);
  const { lists, now } = context;
  const limitsOf = effectiveLimits(client, tables);
  return async (userId, { request, projectId, ...requested }) => {
    const { batchId, create } = requested;
    const time = fromMilliseconds(now());
    const callId = request?.id ?? randomUUID();
    const creation = { ...requested, callId, time };
    const job_ids = requested.jobs.map(({ id }) => id);
    const call = create === undefined ? { id: callId, job_ids, errors: givenUp } : undefined;
    const pace = newPace();
    const isOver = () => pace.isOver();
    const { errors, batches, jobs } = await commitTasks(
      {
        ...context,
        userId,
        pace,
        limits: lazyValue(() => limitsOf(userId, create?.project_id ?? projectId)),
        lock: writerLock(client, tables, { userId, now, maxWaitMilliseconds, isOver }),
      },
      [
        {
          changes: creationChanges({ userId, lists }, creation, request && { ...request, batchId, time }),
          beforeMultiTransaction: () => options.beforeMultiTransaction?.(userId, batchId, call),
        },
      ],
    );
    const [error] = errors;
    if (error instanceof AlreadyExists)
      throw new AlreadyExists('idempotency_key_reused', keyUsedBefore, { cause: error });
    if (error instanceof Unfinished && request === undefined) {
      // If this fails, what was sent before the first transaction comes ten minutes after that.
      await options.handOver?.(userId, batchId, call).catch(() => {});
      throw new PayloadTooLarge(tooManyJobs, { cause: error });
    }
    if (error !== undefined) throw error;
    const batch = batches.get(batchId);
    const rows = job_ids.flatMap((id) => jobs.get(id) ?? []);
    if (batch === undefined || rows.length !== job_ids.length) {
      throw new CorruptData(`Rows of the batch ${batchId} are missing after their creation.`);
    }
    return { batch, jobs: rows };
  };
}

/**
 * The function that throws what requestCreation would throw of this request, and stores nothing. It
 * looks at the first of several transactions: that is where limits, the batch and its device are
 * checked for all jobs. A call that was made before is tried as a new one.
 */
export function tryCreation(
  client: DynamoDBDocumentClient,
  tables: CreationTables,
  options: LifecycleOptions = {},
): (userId: string, requested: RequestedCreation) => Promise<void> {
  const { newPace, ...context } = writeContext(client, tables, options);
  const limitsOf = effectiveLimits(client, tables);
  return async (userId, { projectId, ...requested }) => {
    const project = requested.create?.project_id ?? projectId;
    const limits = lazyValue(() => limitsOf(userId, project));
    // Sequences of their own would be too much for one transaction.
    const { sequences, request, ...rest } = requested;
    const creation = { ...rest, callId: randomUUID(), time: fromMilliseconds(context.now()) };
    const changes = creationChanges({ userId, lists: context.lists }, creation).slice(0, 1);
    const { errors } = await commitTasks({ ...context, userId, limits, isTrial: true }, [{ changes }]);
    if (errors[0] !== undefined) throw errors[0];
  };
}
