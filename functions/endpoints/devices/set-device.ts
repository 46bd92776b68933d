import { documentClient } from '../../data/dynamodb/client.ts';
import { setDevice } from '../../data/operators/device-settings.ts';
import { getDevice } from '../../data/rows/devices.ts';
import { showOperatedDevice } from '../../data/rows/show-device.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './set-device.operation.ts';

const client = documentClient();
const set = setDevice(client, tableNames('Devices', 'DeviceQueue', 'Audit'));
const get = getDevice(client, tableNames('Devices'));
const show = showOperatedDevice(client, tableNames('DeviceQueue'));

export const handler = endpoint(routes.setDevice, operation, async ({ userId, path: { device_type }, body }) => {
  const rules = await set({ operator: userId, deviceType: device_type, settings: body });
  return success(await show({ device_type, status: 'NOT ANNOUNCED', ...(await get(device_type)), rules }));
});
