/** What users learn of devices and their queues: numbers, but not whose batches are counted. */

import * as z from 'zod/mini';
import { type BatchProgress, BatchProjection, QueueKey } from '../../schemas/batch.ts';
import type { AnnounceRequest } from '../../schemas/device.ts';
import { type NoEstimateReason, noEstimate, type StartEstimate } from '../../schemas/estimate.ts';
import { batchStatuses, isFinalBatchStatus } from '../../statuses.ts';
import type { Db } from '../dynamodb/db.ts';
import { getRow } from '../dynamodb/reads.ts';
import { describePause, pauseAt } from '../queue/device-rules.ts';
import { estimateStart } from '../queue/estimate.ts';
import { keptFront, upToMax } from '../queue/kept-fronts.ts';
import { announceQueue, type QueueFront } from '../queue/queue.ts';
import { deviceSettings } from '../queue/queue-item.ts';

/** Where a batch waits. */
type QueueState = Pick<BatchProgress, 'queue_position' | 'queue_reason'> & StartEstimate;

const QueuedBatch = z.extend(
  z.pick(BatchProjection, {
    ...{ id: true, user_id: true, project_id: true, device_type: true, status: true },
    ...{ jobs_count: true, jobs_count_per_status: true, webhook: true },
  }),
  { queue_key: QueueKey },
);

/**
 * A batch and, while it is PENDING in a queue, the number of batches before it and when it is
 * likely to start (see queue/estimate.ts). The number is null beyond 1,000, and if no machine
 * serves the queue. `queue_reason` says that no machine does, or why an operator lets the device
 * take no batches. All of this may be 10 s old. Undefined when the user has no such batch.
 *
 * 1 read unit. While the batch waits also, once in 10 s, half a read unit for about 16 batches of
 * its device, 31 at most.
 */
export async function getQueuedBatch(
  db: Db<'Batches' | 'DeviceQueue'>,
  userId: string,
  batchId: string,
): Promise<(z.infer<typeof QueuedBatch> & QueueState) | undefined> {
  const key = { user_id: userId, id: batchId };
  const batch = await getRow(db, { table: 'Batches', key, schema: QueuedBatch });
  if (batch === undefined) return undefined;
  const { device_type, status, queue_key } = batch;
  const isWaiting = status === 'PENDING' && typeof queue_key === 'string';
  if (!isWaiting) return { ...batch, queue_position: null, queue_reason: null, ...noEstimate(whyNotWaiting(status)) };
  const front = await keptFront(db, device_type);
  const { batches, isAnnounced, rules } = front;
  const now = db.clock.now();
  const pause = pauseAt(rules, now);
  const nobody = isAnnounced ? null : `No machine has announced itself as ${device_type}.`;
  return {
    ...batch,
    queue_position: isAnnounced ? upToMax(countBefore(batches, queue_key)) : null,
    queue_reason: pause === undefined ? nobody : describePause(device_type, pause),
    ...estimateStart(front, { key: queue_key, user_id: userId }, now),
  };
}

/** Why a batch of this status, outside a queue or at a device, has no start to wait for. */
function whyNotWaiting(status: BatchProgress['status']): NoEstimateReason {
  return (['unknown', 'running', 'ended', 'ended'] as const)[batchStatuses[status].stage];
}

/** Makes the queue of a device known, with what the device sets for its batches. 1 write unit. */
export function announceInQueue(db: Db<'DeviceQueue'>, deviceType: string, announced: AnnounceRequest): Promise<void> {
  return announceQueue(db, deviceType, deviceSettings(announced));
}

/**
 * Seconds after which a client that waits for the batch should look again: 1 while the batch runs
 * or is next, one more for each batch before it, at most 60. 30 when its place is unknown.
 * Undefined when it has ended.
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
