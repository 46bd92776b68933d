import { NotFound } from '../../errors.ts';
import type { WatchedDevice, Worker } from '../../schemas/watched-device.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import type { Db } from '../dynamodb/db.ts';
import { namesOf } from '../projects/names.ts';
import { batchIdOfKey } from '../queue/fair-order.ts';
import { listIdleWorkers } from '../queue/idle-workers.ts';
import { lastHeartbeat, type QueueItem } from '../queue/queue-item.ts';
import { getDevice } from '../rows/devices.ts';
import { showOperatedDevice } from '../rows/show-device.ts';
import { measureQueue } from './queue-measures.ts';

const maxWorkers = 200;

/**
 * A device with its workers, for operators: it names users. Throws NotFound for a type that was
 * never announced, set or queued for. 1 read unit for each 4 KB of its specification and each 16
 * batches, half a unit for about 30 idle workers, and what namesOf takes for the users of batches
 * at work.
 */
export async function watchDevice(
  db: Db<'Devices' | 'DeviceQueue' | 'Counters' | 'Columns' | 'Contributors'>,
  device_type: string,
): Promise<WatchedDevice> {
  const [row, { isKnown, rules, atWork }, idle] = await Promise.all([
    getDevice(db, device_type),
    measureQueue(db, device_type),
    listIdleWorkers(db, device_type),
  ]);
  if (row === undefined && !isKnown) throw new NotFound('There is no such device.');
  const names = await namesOf(
    db,
    atWork.map(({ user_id }) => user_id),
  );
  const busy = new Set(atWork.map(({ worker }) => worker));
  const workers = [
    ...atWork.map((item) => busyWorker(item, names.get(item.user_id))),
    ...Array.from(idle, ([worker, at]) => idleWorker(worker, at)).filter(({ worker }) => !busy.has(worker)),
  ].toSorted((one, other) => (one.seen_at > other.seen_at ? -1 : 1));
  return {
    ...(await showOperatedDevice(db, { device_type, rules, ...row })),
    batches_at_work: atWork.length,
    workers: workers.slice(0, maxWorkers),
  };
}

function busyWorker(item: QueueItem, user_name: string | undefined): Worker {
  const { worker = '', key, user_id, job_id = null, job_since } = item;
  return {
    worker,
    seen_at: fromMilliseconds(lastHeartbeat(item)),
    user_id,
    user_name: user_name ?? null,
    batch_id: batchIdOfKey(key),
    job_id,
    job_started_at: job_since === undefined ? null : fromMilliseconds(job_since),
  };
}

function idleWorker(worker: string, at: number): Worker {
  const nothing = { user_id: null, user_name: null, batch_id: null, job_id: null, job_started_at: null };
  return { worker, seen_at: fromMilliseconds(at), ...nothing };
}
