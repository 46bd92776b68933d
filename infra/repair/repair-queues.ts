/**
 * Compares the devices' queues with the batches that say they are there. A crash leaves no
 * difference, since both change in one transaction. This mends changes made by hand, or a table
 * that was restored to another time than the others.
 */

import { DeleteCommand, paginateScan } from '@aws-sdk/lib-dynamodb';
import { getItem, type Item } from '../../functions/data/dynamodb/reads.ts';
import { commitTask } from '../../functions/data/lifecycle/commit-tasks.ts';
import { type Change, reportedBatch, withRows } from '../../functions/data/lifecycle/draft.ts';
import type { LifecycleDb } from '../../functions/data/lifecycle/lifecycle-db.ts';
import { isClaimable } from '../../functions/data/lifecycle/queue-writes.ts';
import { batchIdOfKey } from '../../functions/data/queue/fair-order.ts';
import { isBatch, QueueItem } from '../../functions/data/queue/queue-item.ts';
import type { BatchRow } from '../../functions/schemas/batch.ts';
import { readBatch, readBatchItems } from './stored-batches.ts';

interface QueueRepair {
  readonly db: LifecycleDb;
  readonly fix: boolean;
  /** Only batches of this user. */
  readonly userId?: string | undefined;
}

interface QueueDifference {
  readonly userId: string;
  readonly batchId: string;
  readonly reason: string;
}

/**
 * Finds the differences and, with `fix`, mends them: a batch goes to the end of its owner's turn,
 * an item of no batch is deleted. Writers may go on meanwhile: what differs is read once more,
 * strongly consistent, and changed only where it still is as it was read. Rows that break their
 * schema are passed over: repairUser reports them.
 */
export async function repairQueues(repair: QueueRepair): Promise<QueueDifference[]> {
  const differences: (QueueDifference | undefined)[] = [];
  const items = new Map((await readQueueItems(repair)).map((item) => [nameOf(item), item]));
  for await (const row of readQueuedBatches(repair)) {
    const { device_type, queue_key } = row;
    const item = typeof queue_key === 'string' ? items.get(nameOf({ device_type, key: queue_key })) : undefined;
    if (whyWrong(row, item) !== undefined) differences.push(await checkBatch(repair, row.user_id, row.id));
  }
  for (const item of items.values()) {
    const row = await readBatchOf(repair, item.user_id, batchIdOfKey(item.key));
    if (row !== 'broken' && row?.queue_key !== item.key) differences.push(await checkItem(repair, item));
  }
  return differences.filter((difference) => difference !== undefined);
}

async function checkBatch(repair: QueueRepair, userId: string, id: string): Promise<QueueDifference | undefined> {
  const row = await readBatchOf(repair, userId, id);
  if (row === undefined || row === 'broken') return undefined;
  const { device_type, queue_key } = row;
  const item = typeof queue_key === 'string' ? await readItemAt(repair, device_type, queue_key) : undefined;
  const reason = whyWrong(row, item);
  if (reason === undefined) return undefined;
  if (repair.fix) {
    const change = placeAgain(id, item === undefined ? queue_key : undefined);
    await commitTask(repair.db, { userId }, { changes: [change] });
  }
  return { userId, batchId: id, reason };
}

async function checkItem(repair: QueueRepair, item: QueueItem): Promise<QueueDifference | undefined> {
  const { device_type, key, user_id: userId } = item;
  const batchId = batchIdOfKey(key);
  const [found, row] = await Promise.all([readItemAt(repair, device_type, key), readBatchOf(repair, userId, batchId)]);
  if (found === undefined || row === 'broken' || row?.queue_key === key) return undefined;
  if (repair.fix) {
    // No batch takes a key that is there, so none can have taken this one since.
    const { client, tables } = repair.db;
    await client.send(new DeleteCommand({ TableName: tables.DeviceQueue, Key: { device_type, key } }));
  }
  return { userId, batchId, reason: 'is in the queue, but does not say so' };
}

async function readQueueItems({ db: { client, tables }, userId }: QueueRepair): Promise<QueueItem[]> {
  const found: QueueItem[] = [];
  for await (const { Items = [] } of paginateScan(
    { client },
    { TableName: tables.DeviceQueue, ConsistentRead: true },
  )) {
    for (const item of Items) {
      if (!isBatch(item)) continue;
      const { data } = QueueItem.safeParse(item);
      if (data !== undefined && (userId === undefined || data.user_id === userId)) found.push(data);
    }
  }
  return found;
}

/** All batches that workers may take, or might have taken. */
async function* readQueuedBatches({ db, userId }: QueueRepair): AsyncGenerator<BatchRow> {
  for await (const item of readBatchItems({ db, userId, condition: 'attribute_exists(queue_key)' })) {
    const row = readBatch(item);
    if (row !== undefined) yield row;
  }
}

async function readBatchOf({ db }: QueueRepair, user_id: string, id: string): Promise<BatchRow | 'broken' | undefined> {
  const item = await getItem(db, { table: 'Batches', key: { user_id, id }, consistent: true });
  return item && (readBatch(item) ?? 'broken');
}

function readItemAt({ db }: QueueRepair, device_type: string, key: string): Promise<Item | undefined> {
  return getItem(db, { table: 'DeviceQueue', key: { device_type, key }, consistent: true });
}

function whyWrong(row: BatchRow, item: object | undefined): string | undefined {
  const isInQueue = typeof row.queue_key === 'string';
  if (isClaimable(row) && !isInQueue) return 'should be in the queue of its device';
  if (!isClaimable(row) && isInQueue) return 'should not be in the queue of its device';
  return isInQueue && item === undefined ? 'is missing in the queue of its device' : undefined;
}

/**
 * Writes the batch as it is: its transaction derives what changes in the queue. It gives up the key
 * whose item is missing, but no key that it got since: the item of that one is there.
 */
function placeAgain(id: string, missingKey: BatchRow['queue_key']): Change {
  return {
    batchIds: [id],
    jobIds: [],
    apply(draft) {
      const batch = reportedBatch(draft, id);
      if (batch === undefined) return draft;
      const isMissing = typeof missingKey === 'string' && batch.queue_key === missingKey;
      const again = { ...batch, rev: batch.rev + 1, ...(isMissing && { queue_key: null }) };
      return withRows(draft, { batches: [again] });
    },
  };
}

function nameOf({ device_type, key }: Pick<QueueItem, 'device_type' | 'key'>): string {
  return `${key} ${device_type}`;
}
