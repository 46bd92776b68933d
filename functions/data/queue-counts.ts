/** What users learn of the devices' queues: numbers, and nothing of whose batches they count. */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { type Batch, type BatchProgress, BatchProjection, BatchRow, batchRowDefaults } from '../schemas/batch.ts';
import type { AnnounceRequest } from '../schemas/device.ts';
import type { TableNames } from '../tables.ts';
import { showRow } from './batches.ts';
import { getRow } from './dynamodb/reads.ts';
import { workQueue } from './queue/queue.ts';
import { deviceSettings } from './queue/queue-item.ts';

/** Where a batch waits. */
export type QueueState = Pick<BatchProgress, 'queue_position' | 'queue_reason'>;

const QueuedBatchOfRow = z.extend(BatchProjection, { queue_key: BatchRow.shape.queue_key });

/**
 * The function that reads a batch and, while it is PENDING in a queue, how many batches are before
 * it: null beyond 1,000, and where no machine serves the queue; `queue_reason` says so then.
 * Undefined when the user has no such batch. 1 read unit; while it waits also half a one, and half
 * a one for about 16 batches that are before it.
 */
export function getQueuedBatch(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'DeviceQueue'>,
): (userId: string, batchId: string) => Promise<(Batch & QueueState) | undefined> {
  const queue = workQueue(client, tables);
  return async (userId, batchId) => {
    const row = await getRow(client, {
      table: tables.Batches,
      key: { user_id: userId, id: batchId },
      schema: QueuedBatchOfRow,
      defaults: batchRowDefaults,
    });
    if (row === undefined) return undefined;
    const { queue_key, ...shown } = row;
    const batch = showRow(shown);
    const { device_type, status } = batch;
    const isWaiting = status === 'PENDING' && typeof queue_key === 'string';
    if (!isWaiting) return { ...batch, queue_position: null, queue_reason: null };
    const [count, isServed] = await Promise.all([queue.count(device_type, queue_key), queue.isAnnounced(device_type)]);
    const nobody = `No machine has announced itself as ${device_type}.`;
    return { ...batch, queue_position: isServed ? count : null, queue_reason: isServed ? null : nobody };
  };
}

/**
 * The function that makes the queue of a device known, with what the device sets for its batches. 1
 * write unit.
 */
export function announceQueue(client: DynamoDBDocumentClient, tables: TableNames<'DeviceQueue'>) {
  const queue = workQueue(client, tables);
  return (deviceType: string, announced: AnnounceRequest): Promise<void> =>
    queue.announce(deviceType, deviceSettings(announced));
}

/** How long a count is shown: anyone may ask, without a token. */
const secondsShown = 10;

/**
 * The function that counts the batches in the queue of a device: null beyond 1,000. It counts anew
 * after 10 s. Half a read unit for about 16 batches.
 */
export function countQueue(
  client: DynamoDBDocumentClient,
  tables: TableNames<'DeviceQueue'>,
  now = Date.now,
): (deviceType: string) => Promise<number | null> {
  const queue = workQueue(client, tables);
  const counts = new Map<string, { readonly at: number; readonly count: Promise<number | null> }>();
  return async (deviceType) => {
    const known = counts.get(deviceType);
    if (known !== undefined && now() - known.at < secondsShown * 1000) return known.count;
    const count = queue.count(deviceType);
    counts.set(deviceType, { at: now(), count });
    count.catch(() => counts.delete(deviceType));
    return count;
  };
}
