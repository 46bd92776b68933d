import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { deviceModes } from '../../device-modes.ts';
import { type Device, type DeviceRow, type OperatedDevice, specificationFacts } from '../../schemas/device.ts';
import type { TableNames } from '../../tables.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import { keepFronts, upToMax } from '../batches/queue-counts.ts';
import { openRules, pauseAt } from '../queue/device-rules.ts';
import { maxIdleMilliseconds } from '../queue/queue-item.ts';

type ShownRow = Pick<DeviceRow, 'device_type' | 'status'> & Partial<DeviceRow>;

/**
 * The function that shows a device as it is now, with the numbers of its queue, which may be 10 s
 * old. Half a read unit for about 16 batches.
 */
export function showDevice(
  client: DynamoDBDocumentClient,
  tables: TableNames<'DeviceQueue'>,
  now = () => Date.now(),
): (device: ShownRow) => Promise<Device> {
  const frontOf = keepFronts(client, tables, now);
  return async ({ device_type, status, specs, rules = openRules }) => {
    const { batches, settings, average_queue_time } = await frontOf(device_type);
    const time = fromMilliseconds(now());
    const pause = pauseAt(rules, now());
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
    };
  };
}

/** As showDevice, with the numbers that the operator has set. */
export function showOperatedDevice(
  ...parameters: Parameters<typeof showDevice>
): (device: ShownRow) => Promise<OperatedDevice> {
  const show = showDevice(...parameters);
  return async (device) => {
    const { max_job_seconds = null, idle_seconds = null, max_batch_seconds = null } = device.rules ?? {};
    return { ...(await show(device)), max_job_seconds, idle_seconds, max_batch_seconds };
  };
}
