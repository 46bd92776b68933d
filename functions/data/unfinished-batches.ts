/**
 * What becomes of a batch whose creation, cancellation or end died on its way: it is announced on a queue before the first of several
 * transactions. Ten minutes later it is canceled where it is still unfinished, or its jobs are ended where it has ended otherwise.
 */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { IllegalTransition } from '../errors.ts';
import { BatchRow, batchRowDefaults } from '../schemas/batch.ts';
import type { UnfinishedBatch } from '../schemas/unfinished-batch.ts';
import type { TableNames } from '../tables.ts';
import { getRow } from './dynamodb/reads.ts';
import { cancelBatch } from './lifecycle/cancel.ts';
import { type LifecycleOptions, lifecycle } from './lifecycle/lifecycle.ts';
import { hasJobsToEnd } from './lifecycle/settle.ts';
import type { MessageSender } from './message-sender.ts';

/** Longer than any function runs: what is still at work is not unfinished. */
export const unfinishedDelaySeconds = 600;

/** The function that announces a batch. Throws when the queue does not take the message. */
export function announceUnfinished(sender: MessageSender): (userId: string, batchId: string) => Promise<void> {
  return (user_id, batch_id) => {
    const message: UnfinishedBatch = { user_id, batch_id };
    return sender.send({ body: JSON.stringify(message), attributes: {}, delaySeconds: unfinishedDelaySeconds });
  };
}

/**
 * The function that finishes an announced batch unless that was done since, or it was never begun: it cancels one that is half created
 * or half canceled, and ends the jobs of one that has ended. Returns what it did. Throws what cancelBatch throws, but for an end that
 * came meanwhile.
 */
export function finishBatch(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns'>,
  options?: LifecycleOptions,
): (userId: string, batchId: string) => Promise<'finished' | 'not begun' | 'canceled' | 'ended' | 'ended otherwise'> {
  const cancel = cancelBatch(client, tables, options);
  const { endJobs } = lifecycle(client, tables, options);
  return async (userId, batchId) => {
    const key = { user_id: userId, id: batchId };
    const batch = await getRow(client, { table: tables.Batches, key, schema: BatchRow, defaults: batchRowDefaults });
    if (batch === undefined) return 'not begun';
    if (batch.creating !== true && batch.canceling !== true) {
      if (!hasJobsToEnd(batch)) return 'finished';
      await endJobs(userId, batchId);
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
