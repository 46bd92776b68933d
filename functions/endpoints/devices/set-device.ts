import { setDevice } from '../../data/operators/device-settings.ts';
import { previewSetting } from '../../data/operators/preview-acts.ts';
import { getDevice } from '../../data/rows/devices.ts';
import { showOperatedDevice } from '../../data/rows/show-device.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './set-device.operation.ts';

export const handler = endpoint(
  routes.setDevice,
  operation,
  async ({ db, userId: operator, claims, path, query, body: settings }) => {
    const { device_type } = path;
    if (query.preview) return success(await previewSetting(db, device_type, settings));
    const act = { operator, operatorName: claims.user_name, deviceType: device_type, settings };
    const rules = await setDevice(db, act);
    return success(await showOperatedDevice(db, { device_type, ...(await getDevice(db, device_type)), rules }));
  },
);
