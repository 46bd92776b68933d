import { keptDevices } from '../../data/rows/devices.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './list-public-specifications.operation.ts';

export const handler = endpoint(routes.listPublicSpecifications, operation, async ({ db }) => {
  const devices = await keptDevices(db);
  const shown = devices.filter((device) => device.public && device.specs !== undefined);
  return success(shown.map(({ device_type, specs }) => ({ device_type, specs })));
});
