import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { NotFound } from '../errors.ts';
import type { Page } from '../page.ts';
import type { PageQuery } from '../schemas/query-parameters.ts';
import type { QueuedBatch } from '../schemas/queued-batch.ts';
import type { TableNames } from '../tables.ts';
import { fromMilliseconds } from '../timestamp.ts';
import { batchOf } from './batches.ts';
import { batchGet, queryAll } from './dynamodb/reads.ts';
import { storedRow } from './dynamodb/stored-row.ts';
import { batchIdOfKey } from './queue/fair-order.ts';
import type { QueueOptions } from './queue/queue.ts';
import { isBatch, QueueItem } from './queue/queue-item.ts';

/**
 * The function that lists the batches of a device's queue, in the order in which claims take them,
 * with those that workers have. For operators: it shows the batches of all users. Throws NotFound
 * for a type that nobody has announced, set or queued for. Strongly consistent: 1 read unit for 16
 * batches of the queue, whose number is exact, and 1 for each 4 KB of a batch's row on the page.
 */
export function listQueue(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'DeviceQueue'>,
  { now = Date.now }: QueueOptions = {},
): (deviceType: string, page: PageQuery) => Promise<Page<QueuedBatch>> {
  return async (deviceType, { limit, offset }) => {
    const items = await queryAll(client, {
      table: tables.DeviceQueue,
      partition: { device_type: deviceType },
      sortKey: 'key',
      range: 'all',
      consistent: true,
    });
    const batches = items.filter(isBatch);
    const isKnown = batches.length > 0 || items.some(({ announced, mode }) => announced === true || mode !== undefined);
    if (!isKnown) throw new NotFound('There is no such device.');
    const queued = batches.slice(offset, offset + limit).map((item) => storedRow(QueueItem, item));
    const keys = queued.map(({ user_id, key }) => ({ user_id, id: batchIdOfKey(key) }));
    const rows = await batchGet(client, { table: tables.Batches, keys, consistent: true });
    const shown = queued.flatMap((item, place): QueuedBatch[] => {
      const row = rows.find(({ user_id, id }) => user_id === item.user_id && id === batchIdOfKey(item.key));
      // It is missing until a repair takes the batch out.
      if (row === undefined) return [];
      const lease = leaseShown(item, now());
      return [{ ...batchOf(row), position: lease === null ? offset + place : null, lease }];
    });
    return { items: shown, total: batches.length };
  };
}

/** Null where nobody has the batch, or the worker that had it is lost. */
function leaseShown({ lease_until, put_back, worker, job_id, losses }: QueueItem, now: number): QueuedBatch['lease'] {
  if (put_back === true || lease_until <= now) return null;
  return { worker: worker ?? null, expires_at: fromMilliseconds(lease_until), job_id: job_id ?? null, losses };
}
