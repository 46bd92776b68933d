/**
 * Recovers batches whose creation, cancellation or end died on its way. A message is queued before
 * the first of several transactions. Ten minutes later, a batch that is still unfinished is
 * canceled, and the jobs of a batch that has ended otherwise are ended.
 */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { IllegalTransition } from '../errors.ts';
import { BatchRow } from '../schemas/batch.ts';
import type { InterruptedCall, RecoveryRequest } from '../schemas/recovery-request.ts';
import type { TableNames } from '../tables.ts';
import { fromMilliseconds } from '../timestamp.ts';
import { cancelBatch } from './cancellations.ts';
import { getRow } from './dynamodb/reads.ts';
import { endJobs } from './lifecycle/apply-events.ts';
import { cancelJobsChanges } from './lifecycle/cancel.ts';
import { commitTask, type LifecycleOptions, writeContext } from './lifecycle/commit-tasks.ts';
import { hasJobsToEnd } from './lifecycle/derive-status.ts';
import { changesOfCall, isPending } from './lifecycle/pending-calls.ts';
import type { LifecycleTables } from './lifecycle/transaction.ts';
import type { MessageSender } from './message-sender.ts';

/** Longer than any function runs: what is still at work is not unfinished. */
export const recoveryDelaySeconds = 600;

/**
 * The function that announces a batch, or a call that changes some of its jobs, to be finished
 * after so many seconds. Throws when the queue does not take the message.
 */
export function scheduleRecovery(
  sender: MessageSender,
  delaySeconds = recoveryDelaySeconds,
): (userId: string, batchId: string, call?: InterruptedCall) => Promise<void> {
  return (user_id, batch_id, call) => {
    const message: RecoveryRequest = { user_id, batch_id, ...(call && { call }) };
    return sender.send({ body: JSON.stringify(message), attributes: {}, delaySeconds });
  };
}

/** What a call that may take several transactions does for its recovery. */
export function recoveryBy(sender: MessageSender) {
  return { beforeMultiTransaction: scheduleRecovery(sender), handOver: scheduleRecovery(sender, 0) };
}

type RecoveryOutcome = 'finished' | 'not begun' | 'canceled' | 'ended' | 'ended otherwise' | 'erased';

/**
 * The function that finishes what was announced, unless that was done since, or it was never begun.
 * It
 * - cancels a batch that is half created or half canceled;
 * - ends the jobs of a batch that has ended;
 * - cancels the jobs that a call has added or canceled only in part;
 * - erases a batch that is half erased, and results that were uploaded after it was erased.
 *
 * Returns what it did. Throws what cancelBatch throws, but for an end that came meanwhile.
 */
export function recoverBatch(
  client: DynamoDBDocumentClient,
  tables: LifecycleTables & TableNames<'Jobs'>,
  options: LifecycleOptions & { readonly finishErasure?: (userId: string, batchId: string) => Promise<void> } = {},
): (unfinished: RecoveryRequest) => Promise<RecoveryOutcome> {
  const context = writeContext(client, tables, options);
  const { lists } = context;
  const cancel = cancelBatch(client, tables, options);
  const end = endJobs(client, tables, options);
  return async ({ user_id: userId, batch_id: batchId, call }) => {
    const key = { user_id: userId, id: batchId };
    const batch = await getRow(client, { table: tables.Batches, key, schema: BatchRow });
    if (batch === undefined) return 'not begun';
    if (batch.erased_at !== null) {
      await options.finishErasure?.(userId, batchId);
      return 'erased';
    }
    if (call !== undefined) {
      if (!isPending(batch, call.id)) return 'finished';
      const jobs = { lists, batchId, jobIds: call.job_ids, now: fromMilliseconds(context.now()) };
      const cancelJobs = cancelJobsChanges({ ...jobs, errors: call.errors ?? undefined });
      const changes = changesOfCall(lists, { batchId, callId: call.id }, cancelJobs);
      await commitTask({ ...context, userId }, { changes });
      return 'canceled';
    }
    if (batch.creating !== true && batch.canceling !== true) {
      if (!hasJobsToEnd(batch)) return 'finished';
      await end(userId, batchId);
      return 'ended';
    }
    try {
      await cancel(userId, batchId);
      return 'canceled';
    } catch (error) {
      if (error instanceof IllegalTransition) return 'ended otherwise';
      throw error;
    }
  };
}
