import { getDevice } from '../../data/rows/devices.ts';
import { NotFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-device-specification.operation.ts';

export const handler = endpoint(routes.getDeviceSpecification, operation, async ({ db, path }) => {
  const device = await getDevice(db, path.device_type);
  if (device?.specs === undefined) throw new NotFound('There is no such device, or it has no specification.');
  return success({ device_type: device.device_type, specs: device.specs });
});
