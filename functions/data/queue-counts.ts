/**
 * What users learn of devices and their queues: numbers, and nothing of whose batches they count.
 */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { type Batch, type BatchProgress, BatchProjection, BatchRow } from '../schemas/batch.ts';
import type { AnnounceRequest } from '../schemas/device.ts';
import { type NoEstimateReason, noEstimate, type StartEstimate } from '../schemas/estimate.ts';
import { batchStatuses, isFinalBatchStatus } from '../statuses.ts';
import type { TableNames } from '../tables.ts';
import { showRow } from './batches.ts';
import { getRow } from './dynamodb/reads.ts';
import { describeRest, restAt } from './queue/device-rules.ts';
import { estimateStart } from './queue/estimate.ts';
import { maxCountedBatches, type QueueFront, workQueue } from './queue/queue.ts';
import { deviceSettings } from './queue/queue-item.ts';

/** Where a batch waits. */
export type QueueState = Pick<BatchProgress, 'queue_position' | 'queue_reason'> & StartEstimate;

const QueuedBatchOfRow = z.extend(BatchProjection, { queue_key: BatchRow.shape.queue_key });

/** How long a process keeps the front of a queue: anyone may ask for its length, with no token. */
const secondsKept = 10;

/**
 * The function that reads the front of a device's queue, at most once in 10 s: what it returns may
 * be so old. Half a read unit for about 16 batches, 31 at most.
 */
export function keepFronts(client: DynamoDBDocumentClient, tables: TableNames<'DeviceQueue'>, now: () => number) {
  const queue = workQueue(client, tables, { now });
  const kept = new Map<string, { readonly until: number; readonly front: Promise<QueueFront> }>();
  return (deviceType: string): Promise<QueueFront> => {
    // The oldest come first. Users may name any device.
    for (const [name, { until }] of kept) {
      if (until > now()) break;
      kept.delete(name);
    }
    const known = kept.get(deviceType);
    if (known !== undefined) return known.front;
    const front = queue.front(deviceType);
    kept.set(deviceType, { until: now() + secondsKept * 1000, front });
    front.catch(() => kept.delete(deviceType));
    return front;
  };
}

/** Null where there are more than are counted. */
export function upToMax(count: number): number | null {
  return count > maxCountedBatches ? null : count;
}

/**
 * The function that reads a batch and, while it is PENDING in a queue, how many batches are before
 * it: null beyond 1,000, and where no machine serves the queue. `queue_reason` says so then, or why
 * an operator lets the device take no batches. Then also when it is likely to start: see
 * queue/estimate.ts. All may be 10 s old. Undefined when the user has no such batch. 1 read unit;
 * while it waits also, once in 10 s, half a one for about 16 batches of its device, 31 at most.
 */
export function getQueuedBatch(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'DeviceQueue'>,
  now = () => Date.now(),
): (userId: string, batchId: string) => Promise<(Batch & QueueState) | undefined> {
  const frontOf = keepFronts(client, tables, now);
  return async (userId, batchId) => {
    const key = { user_id: userId, id: batchId };
    const row = await getRow(client, { table: tables.Batches, key, schema: QueuedBatchOfRow });
    if (row === undefined) return undefined;
    const { queue_key, ...shown } = row;
    const batch = showRow(shown);
    const { device_type, status } = batch;
    const isWaiting = status === 'PENDING' && typeof queue_key === 'string';
    if (!isWaiting) return { ...batch, queue_position: null, queue_reason: null, ...noEstimate(whyNotWaiting(status)) };
    const front = await frontOf(device_type);
    const { batches, isAnnounced, rules } = front;
    const rest = restAt(rules, now());
    const nobody = isAnnounced ? null : `No machine has announced itself as ${device_type}.`;
    return {
      ...batch,
      queue_position: isAnnounced ? upToMax(countBefore(batches, queue_key)) : null,
      queue_reason: rest === undefined ? nobody : describeRest(device_type, rest),
      ...estimateStart(front, { key: queue_key, user_id: userId }, now()),
    };
  };
}

/** Why a batch with this status, which is in no queue or at a device, has no start to wait for. */
function whyNotWaiting(status: Batch['status']): NoEstimateReason {
  return (['unknown', 'running', 'ended', 'ended'] as const)[batchStatuses[status].stage];
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

/**
 * After how many seconds a client that waits for the batch does well to look again: 1 while it is
 * at work or next, one more for each batch before it, at most 60; 30 where nobody knows its place.
 * Undefined where it has ended.
 */
export function secondsToNextLook({
  status,
  queue_position,
  queue_reason,
}: Pick<BatchProgress, 'status' | 'queue_position' | 'queue_reason'>): number | undefined {
  if (isFinalBatchStatus(status)) return undefined;
  if (status !== 'PENDING') return 1;
  if (queue_reason !== null) return 60;
  return queue_position === null ? 30 : Math.min(1 + queue_position, 60);
}

/** How many of the batches, in their order, are before this key. */
function countBefore(batches: QueueFront['batches'], key: string): number {
  let [from, to] = [0, batches.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (batches[middle]!.key < key) from = middle + 1;
    else to = middle;
  }
  return from;
}
