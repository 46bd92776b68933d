import { setDevice } from '../../data/operators/device-settings.ts';
import { getDevice } from '../../data/rows/devices.ts';
import { showOperatedDevice } from '../../data/rows/show-device.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './set-device.operation.ts';

export const handler = endpoint(routes.setDevice, operation, async ({ db, userId: operator, claims, path, body }) => {
  const { device_type } = path;
  const rules = await setDevice(db, {
    operator,
    operatorName: claims.user_name,
    deviceType: device_type,
    settings: body,
  });
  return success(await showOperatedDevice(db, { device_type, ...(await getDevice(db, device_type)), rules }));
});
