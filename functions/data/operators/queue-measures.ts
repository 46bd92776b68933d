import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { TableNames } from '../../tables.ts';
import { toMicroseconds } from '../../values/timestamp.ts';
import { queryFirstPage } from '../dynamodb/reads.ts';
import { storedRow } from '../dynamodb/stored-row.ts';
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
 * The function that measures the queue of a device type. A worker between two batches holds none
 * for a moment: only measurements that agree for a while show that nobody works. Half a read unit
 * for about 16 batches, up to 128.
 */
export function measureQueue(
  client: DynamoDBDocumentClient,
  tables: TableNames<'DeviceQueue'>,
  now = Date.now,
): (deviceType: string) => Promise<QueueMeasure> {
  return async (deviceType) => {
    const { items } = await queryFirstPage(client, {
      table: tables.DeviceQueue,
      partition: { device_type: deviceType },
      sortKey: 'key',
      range: 'all',
      consistent: false,
    });
    const present = now();
    const pause = pauseAt(deviceRules(items.find(({ key }) => key === deviceRulesKey)), present);
    const batches = items.filter(isBatch).map((item) => storedRow(QueueItem, item));
    const waiting = batches.filter(({ lease_until }) => lease_until <= present);
    const created = waiting.map(({ key }) => toMicroseconds(placeOfKey(key).created_at) / 1_000);
    const oldest = created.reduce((earliest, time) => Math.min(earliest, time), present);
    return {
      length: batches.length,
      oldestSeconds: Math.round((present - oldest) / 1_000),
      unclaimed: waiting.length > 0 && waiting.length === batches.length && pause === undefined,
      lapsed: waiting.filter(({ lease_until, put_back }) => lease_until > 0 && put_back !== true),
    };
  };
}
