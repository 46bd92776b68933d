/** When a batch that a user would create now is likely to start. */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { StartEstimate } from '../../schemas/estimate.ts';
import type { QueuePriority } from '../../schemas/values.ts';
import type { TableNames } from '../../tables.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import { getUserClock } from '../lifecycle/queue-writes.ts';
import { estimateStart } from '../queue/estimate.ts';
import { placeWork, queueKey } from '../queue/fair-order.ts';
import { keepFronts } from './queue-counts.ts';

/** Behind all others of the same place. */
const lastBatchId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export interface PlannedBatch {
  readonly user_id: string;
  readonly device_type: string;
  readonly queue_priority: QueuePriority;
  readonly jobs: number;
}

/**
 * The function that estimates the start of a batch that its user would create now, at the place
 * that it would get: see queue/estimate.ts. Stores nothing. 1 read unit, and what keepFronts takes.
 */
export function estimateNewBatch(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Columns' | 'DeviceQueue'>,
  now = () => Date.now(),
): (planned: PlannedBatch) => Promise<StartEstimate> {
  const frontOf = keepFronts(client, tables, now);
  return async (planned) => {
    const { queue_priority: priority, jobs } = planned;
    const [front, user] = await Promise.all([frontOf(planned.device_type), getUserClock(client, tables, planned)]);
    const { tag } = placeWork({ device: front.tag, user }, { priority, jobs: Math.max(1, jobs) });
    const created_at = fromMilliseconds(now());
    const key = queueKey({ tag, priority, created_at, batchId: lastBatchId });
    return estimateStart(front, { key, user_id: planned.user_id }, now());
  };
}
