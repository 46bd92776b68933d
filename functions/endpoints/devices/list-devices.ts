import { listDevices } from '../../data/devices.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './list-devices.operation.ts';

const list = listDevices(documentClient(), tableNames('Devices'));

export const handler = endpoint(routes.listDevices, operation, async ({ query }) => {
  const devices = await list();
  const wanted = devices.filter(({ device_type }) => query.device_type?.includes(device_type) ?? true);
  return success(
    wanted.map(({ device_type, status, availability }) => ({ device_type, status, availability, queue_length: null })),
  );
});
