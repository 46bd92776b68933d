import type { DeviceRules } from '../../schemas/device-rules.ts';
import type { Db } from '../dynamodb/db.ts';
import { fewAtOnce } from '../dynamodb/few-at-once.ts';
import { listIdleWorkers } from '../queue/idle-workers.ts';
import { listDevices } from '../rows/devices.ts';
import { measureQueue, type QueueMeasure, workersPresent } from './queue-measures.ts';

/** A device as programs of operators watch it. */
export interface DeviceMetrics extends QueueMeasure {
  readonly deviceType: string;
  readonly mode: DeviceRules['mode'];
  readonly workers: number;
}

/**
 * Measures all devices that have announced themselves, in the order of their types. What
 * listDevices reads; for each device half a read unit for about 16 batches, and for about 30 idle
 * workers.
 */
export async function measureDevices(db: Db<'Devices' | 'DeviceQueue' | 'Counters'>): Promise<DeviceMetrics[]> {
  return fewAtOnce(await listDevices(db), async ({ device_type: deviceType }) => {
    const [measure, idle] = await Promise.all([measureQueue(db, deviceType), listIdleWorkers(db, deviceType)]);
    return { ...measure, deviceType, mode: measure.rules.mode, workers: workersPresent(measure, idle) };
  });
}
