import { deviceModes } from '../../device-modes.ts';
import { type Device, type DeviceRow, type OperatedDevice, specificationFacts } from '../../schemas/device.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import type { Db } from '../dynamodb/db.ts';
import { calibrationInForce } from '../queue/calibrations-in-force.ts';
import { openRules, pauseAt } from '../queue/device-rules.ts';
import { keptFront, upToMax } from '../queue/kept-fronts.ts';
import { maxIdleMilliseconds } from '../queue/queue-item.ts';

type ShownRow = Pick<DeviceRow, 'device_type' | 'status'> & Partial<DeviceRow>;

/**
 * Shows a device as it is now, with the numbers of its queue, which may be 10 s old. Half a read
 * unit for about 16 batches.
 */
export async function showDevice(
  db: Db<'DeviceQueue'>,
  { device_type, status, specs, rules = openRules }: ShownRow,
): Promise<Device> {
  const { batches, settings, average_queue_time, calibrations } = await keptFront(db, device_type);
  const now = db.clock.now();
  const time = fromMilliseconds(now);
  const pause = pauseAt(rules, now);
  const { accepts, listed } = deviceModes[rules.mode];
  const isActive = status === 'UP' && accepts && pause === undefined;
  return {
    device_type,
    status,
    availability: listed ? (isActive ? 'ACTIVE' : 'INACTIVE') : 'RETIRED',
    queue_length: upToMax(batches.length),
    mode: rules.mode,
    status_message: (pause ?? rules).reason,
    available_at: pause?.until ?? null,
    windows: rules.windows.filter(({ ends_at }) => ends_at > time),
    average_queue_time,
    idle_seconds: maxIdleMilliseconds(settings) / 1_000,
    ...specificationFacts(device_type, specs),
    calibration: calibrationInForce(calibrations, now) ?? null,
  };
}

/**
 * As showDevice, with the numbers that the operator has set. The device need not have announced
 * itself.
 */
export async function showOperatedDevice(
  db: Db<'DeviceQueue'>,
  device: Omit<ShownRow, 'status'> & Partial<ShownRow>,
): Promise<OperatedDevice> {
  const { max_job_seconds = null, idle_seconds = null, max_batch_seconds = null } = device.rules ?? {};
  return {
    ...(await showDevice(db, { status: 'NOT ANNOUNCED', ...device })),
    max_job_seconds,
    idle_seconds,
    max_batch_seconds,
  };
}
