/**
 * What users change of a batch. Both calls may be repeated: then they change nothing and answer
 * with the batch as it is.
 */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Batch, BatchRow } from '../../schemas/batch.ts';
import type { TableNames } from '../../tables.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import { commitTask, type LifecycleOptions, writeContext } from '../lifecycle/commit-tasks.ts';
import { updateBatch } from '../lifecycle/update.ts';
import type { BatchUpdate } from '../lifecycle/update-row.ts';
import { batchOf } from '../rows/batches.ts';

type Tables = TableNames<'Batches' | 'Columns'>;

/**
 * The function that closes a batch for good, so that it takes no more jobs, and returns it. If none
 * of its jobs is unfinished, it ends. Throws NotFound when the user has no such batch. Write units:
 * 8 for a row up to 1 KB, 10 if it ends.
 */
export function closeBatch(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Columns' | 'DeviceQueue'>,
  options?: LifecycleOptions,
): (userId: string, batchId: string) => Promise<Batch> {
  const update = batchUpdate(client, tables, options);
  return (userId, batchId) => update(userId, batchId, { open: false });
}

/**
 * The function that replaces the tags of a batch and returns it. Throws NotFound when the user has
 * no such batch. Write units: 6, and 2 for each tag that it gets or loses.
 */
export function setTags(
  client: DynamoDBDocumentClient,
  tables: Tables,
  options?: LifecycleOptions,
): (userId: string, batchId: string, tags: string[]) => Promise<Batch> {
  const update = batchUpdate(client, tables, options);
  return (userId, batchId, tags) => update(userId, batchId, { tags });
}

function batchUpdate(
  client: DynamoDBDocumentClient,
  tables: Tables & Partial<TableNames<'DeviceQueue'>>,
  options?: LifecycleOptions,
) {
  const context = writeContext(client, tables, options);
  return async (userId: string, batchId: string, update: BatchUpdate): Promise<Batch> => {
    const change = updateBatch(context.lists, { id: batchId, update, now: fromMilliseconds(context.now()) });
    const { batches } = await commitTask({ ...context, userId }, { changes: [change] });
    return batchOf(batches.get(batchId) as BatchRow);
  };
}
