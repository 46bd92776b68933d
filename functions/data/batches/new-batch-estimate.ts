/** When a batch that a user would create now is likely to start. */

import type { StartEstimate } from '../../schemas/estimate.ts';
import type { QueuePriority } from '../../schemas/values.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import type { Db } from '../dynamodb/db.ts';
import { getUserClock } from '../lifecycle/queue-writes.ts';
import { estimateStart } from '../queue/estimate.ts';
import { placeWork, queueKey } from '../queue/fair-order.ts';
import { keptFront } from '../queue/kept-fronts.ts';

/** Behind all others of the same place. */
const lastBatchId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

interface PlannedBatch {
  readonly user_id: string;
  readonly device_type: string;
  readonly queue_priority: QueuePriority;
  readonly jobs: number;
}

/**
 * Estimates the start of a batch that its user would create now, at the place that it would get:
 * see queue/estimate.ts. Stores nothing. 1 read unit, and what keptFront takes.
 */
export async function estimateNewBatch(
  db: Db<'Columns' | 'DeviceQueue'>,
  planned: PlannedBatch,
): Promise<StartEstimate> {
  const { user_id, queue_priority: priority, jobs } = planned;
  const [front, user] = await Promise.all([keptFront(db, planned.device_type), getUserClock(db, planned)]);
  const { tag } = placeWork({ device: front.tag, user }, { priority, jobs: Math.max(1, jobs) });
  const now = db.clock.now();
  const key = queueKey({ tag, priority, created_at: fromMilliseconds(now), batchId: lastBatchId });
  return estimateStart(front, { key, user_id }, now);
}
