import { listDevices } from '../../data/devices.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { countQueue } from '../../data/queue-counts.ts';
import { tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './list-devices.operation.ts';

const client = documentClient();
const list = listDevices(client, tableNames('Devices'));
const count = countQueue(client, tableNames('DeviceQueue'));

export const handler = endpoint(routes.listDevices, operation, async ({ query }) => {
  const devices = await list();
  const wanted = devices.filter(({ device_type }) => query.device_type?.includes(device_type) ?? true);
  const shown = wanted.map(async ({ device_type, status, availability }) => ({
    device_type,
    status,
    availability,
    queue_length: await count(device_type),
  }));
  return success(await Promise.all(shown));
});
