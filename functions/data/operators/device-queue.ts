import { NotFound } from '../../errors.ts';
import type { PageQuery } from '../../schemas/page-query.ts';
import type { QueuedBatch } from '../../schemas/queued-batch.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import type { Page } from '../../values/page.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import type { Db } from '../dynamodb/db.ts';
import { batchGet, queryAll } from '../dynamodb/reads.ts';
import { namesOf } from '../projects/names.ts';
import { batchIdOfKey } from '../queue/fair-order.ts';
import { isBatch, QueueItem } from '../queue/queue-item.ts';
import { showBatches } from '../rows/batches.ts';

/**
 * Lists the batches of a device's queue, in the order in which claims take them; batches that
 * workers have are included. For operators: it shows the batches of all users. Throws NotFound for
 * a type that was never announced, set or queued for. Strongly consistent: 1 read unit for 16
 * batches of the queue, whose number is exact, and 1 for each 4 KB of a batch's row on the page.
 * What the users of the page are called costs what namesOf takes, long configurations what
 * withConstants takes.
 */
export async function listQueue(
  db: Db<'Batches' | 'DeviceQueue' | 'Columns' | 'Sequences' | 'Contributors'>,
  deviceType: string,
  { limit, offset }: PageQuery,
): Promise<Page<QueuedBatch>> {
  const items = await queryAll(db, {
    table: 'DeviceQueue',
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
  const [batchesShown, names] = await Promise.all([
    batchGet(db, { table: 'Batches', keys, consistent: true }).then((rows) => showBatches(db, rows)),
    namesOf(
      db,
      queued.map(({ user_id }) => user_id),
    ),
  ]);
  const shown = queued.flatMap((item, place): QueuedBatch[] => {
    const row = batchesShown.find(({ user_id, id }) => user_id === item.user_id && id === batchIdOfKey(item.key));
    // The row is missing. It is left out until a repair takes the batch out of the queue.
    if (row === undefined) return [];
    const lease = leaseShown(item, db.clock.now());
    const user_name = names.get(item.user_id) ?? null;
    return [{ ...row, user_name, position: lease === null ? offset + place : null, lease }];
  });
  return { items: shown, total: batches.length };
}

/** Null when the batch has no lease, or its worker is lost. */
function leaseShown({ lease_until, put_back, worker, job_id, losses }: QueueItem, now: number): QueuedBatch['lease'] {
  if (put_back === true || lease_until <= now) return null;
  return { worker: worker ?? null, expires_at: fromMilliseconds(lease_until), job_id: job_id ?? null, losses };
}
