import { documentClient } from '../../data/dynamodb/client.ts';
import { listDevices } from '../../data/rows/devices.ts';
import { showDevice } from '../../data/rows/show-device.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './list-devices.operation.ts';

const client = documentClient();
const list = listDevices(client, tableNames('Devices'));
const show = showDevice(client, tableNames('DeviceQueue'));

export const handler = endpoint(routes.listDevices, operation, async ({ query }) => {
  const { device_type: types, availability: wanted = ['ACTIVE', 'INACTIVE'] } = query;
  const devices = (await list()).filter(({ device_type }) => types?.includes(device_type) ?? true);
  const shown = (await Promise.all(devices.map(show))).filter(({ availability }) => wanted.includes(availability));
  const shortened = shown.map((device) => ({ ...device, windows: device.windows.slice(0, 1), channels: null }));
  return firstThatFits(shown, shortened);
});
