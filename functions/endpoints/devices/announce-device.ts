import { announceDevice } from '../../data/devices.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { announceQueue, countQueue } from '../../data/queue-counts.ts';
import { tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './announce-device.operation.ts';

const client = documentClient();
const announce = announceDevice(client, tableNames('Devices'));
const announceInQueue = announceQueue(client, tableNames('DeviceQueue'));
const count = countQueue(client, tableNames('DeviceQueue'));

export const handler = endpoint(routes.announceDevice, operation, async ({ path, body }) => {
  const { device_type, status, availability } = await announce(path.device_type, body);
  await announceInQueue(device_type, body);
  return success({ device_type, status, availability, queue_length: await count(device_type) });
});
