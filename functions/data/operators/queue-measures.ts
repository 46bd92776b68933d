import { storedRow } from '../../schemas/stored-row.ts';
import { toMicroseconds } from '../../values/timestamp.ts';
import type { Db } from '../dynamodb/db.ts';
import { queryFirstPage } from '../dynamodb/reads.ts';
import { deviceRules, deviceRulesKey, pauseAt } from '../queue/device-rules.ts';
import { placeOfKey } from '../queue/fair-order.ts';
import { isBatch, QueueItem } from '../queue/queue-item.ts';

/** What an operator watches of a device's queue. */
export interface QueueMeasure {
  /** Batches in the queue, those at a device included: up to about 4,000, which one read holds. */
  readonly length: number;
  /** Age of the oldest batch that waits, in seconds since it was created; 0 when none waits. */
  readonly oldestSeconds: number;
  /** Whether batches wait while no worker has any, and no operator keeps the device from them. */
  readonly unclaimed: boolean;
  /** Batches whose lease has run out, while users see that a worker has them. */
  readonly lapsed: readonly QueueItem[];
}

/**
 * Measures the queue of a device type. A worker between two batches holds none for a moment: only
 * several measurements in a row show that no worker is there. Half a read unit for about 16
 * batches, up to 128.
 */
export async function measureQueue(db: Db<'DeviceQueue'>, deviceType: string): Promise<QueueMeasure> {
  const { items } = await queryFirstPage(db, {
    table: 'DeviceQueue',
    partition: { device_type: deviceType },
    sortKey: 'key',
    range: 'all',
    consistent: false,
  });
  const now = db.clock.now();
  const pause = pauseAt(deviceRules(items.find(({ key }) => key === deviceRulesKey)), now);
  const batches = items.filter(isBatch).map((item) => storedRow(QueueItem, item));
  const waiting = batches.filter(({ lease_until }) => lease_until <= now);
  const created = waiting.map(({ key }) => toMicroseconds(placeOfKey(key).created_at) / 1_000);
  const oldest = created.reduce((earliest, time) => Math.min(earliest, time), now);
  return {
    length: batches.length,
    oldestSeconds: Math.round((now - oldest) / 1_000),
    unclaimed: waiting.length > 0 && waiting.length === batches.length && pause === undefined,
    lapsed: waiting.filter(({ lease_until, put_back }) => lease_until > 0 && put_back !== true),
  };
}
