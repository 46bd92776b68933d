import { removeDevice } from '../../data/rows/devices.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './remove-device.operation.ts';

export const handler = endpoint(routes.removeDevice, operation, async ({ db, path }) => {
  await removeDevice(db, path.device_type);
  return success(null);
});
