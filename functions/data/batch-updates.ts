/**
 * What users change of a batch. Both calls may be repeated: then they change nothing and answer
 * with the batch as it is.
 */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { NotFound } from '../errors.ts';
import type { Batch } from '../schemas/batch.ts';
import type { TableNames } from '../tables.ts';
import { fromMicroseconds } from '../timestamp.ts';
import { batchOf } from './batches.ts';
import { ownerLists } from './columns/lists.ts';
import { visibleBatch } from './lifecycle/draft.ts';
import type { LifecycleOptions } from './lifecycle/lifecycle.ts';
import { requestChange } from './lifecycle/request-change.ts';
import { updateBatch } from './lifecycle/update.ts';
import type { BatchUpdate } from './lifecycle/update-row.ts';

type Tables = TableNames<'Batches' | 'Columns'>;

/**
 * The function that closes a batch for good, so that it takes no more jobs, and returns it. If none
 * of its jobs is unfinished, it ends. Throws NotFound when the user has no such batch. Write units:
 * 8 for a row up to 1 KB.
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
  options: LifecycleOptions = {},
) {
  const { now = Date.now, rowsPerBlock, lists = ownerLists(rowsPerBlock) } = options;
  // An update of a batch touches no job.
  const change = requestChange(client, { Jobs: '', ...tables }, options);
  return async (userId: string, batchId: string, update: BatchUpdate): Promise<Batch> => {
    const present = fromMicroseconds(now() * 1000);
    const draft = await change(userId, [updateBatch(lists, { id: batchId, update, now: present })]);
    const batch = visibleBatch(draft, batchId);
    if (batch === undefined) throw new NotFound('There is no such batch.');
    return batchOf(batch);
  };
}
