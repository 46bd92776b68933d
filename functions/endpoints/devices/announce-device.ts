import { announceQueue } from '../../data/batches/queue-counts.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { announceDevice } from '../../data/rows/devices.ts';
import { showDevice } from '../../data/rows/show-device.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './announce-device.operation.ts';

const client = documentClient();
const announce = announceDevice(client, tableNames('Devices'));
const announceInQueue = announceQueue(client, tableNames('DeviceQueue'));
const show = showDevice(client, tableNames('DeviceQueue'));

export const handler = endpoint(routes.announceDevice, operation, async ({ path, body }) => {
  const device = await announce(path.device_type, body);
  await announceInQueue(device.device_type, body);
  return success(await show(device));
});
