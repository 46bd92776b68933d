import { watchDevice } from '../../data/operators/watched-device.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { addToRequestLog } from '../../runtime/request-log.ts';
import { operation } from './get-device.operation.ts';

export const handler = endpoint(routes.getDevice, operation, async ({ db, path: { device_type } }) => {
  addToRequestLog({ device_type });
  return success(await watchDevice(db, device_type));
});
