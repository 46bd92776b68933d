import { documentClient } from '../../data/dynamodb/client.ts';
import { listDevices } from '../../data/rows/devices.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './list-device-specifications.operation.ts';

const list = listDevices(documentClient(), tableNames('Devices'));

export const handler = endpoint(routes.listDeviceSpecifications, operation, async () => {
  const devices = await list();
  // JSON leaves out those without a specification.
  return success(Object.fromEntries(devices.map(({ device_type, specs }) => [device_type, specs])));
});
