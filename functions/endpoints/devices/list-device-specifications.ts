import { listDevices } from '../../data/rows/devices.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './list-device-specifications.operation.ts';

export const handler = endpoint(routes.listDeviceSpecifications, operation, async ({ db }) => {
  const devices = await listDevices(db);
  // JSON leaves out those without a specification.
  return success(Object.fromEntries(devices.map(({ device_type, specs }) => [device_type, specs])));
});
