import { keptDevices } from '../../data/rows/devices.ts';
import { showDevice } from '../../data/rows/show-device.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './list-devices.operation.ts';

export const handler = endpoint(routes.listDevices, operation, async ({ db, query }) => {
  const { device_type: types, availability: wanted = ['ACTIVE', 'INACTIVE'] } = query;
  const devices = (await keptDevices(db)).filter(({ device_type }) => types?.includes(device_type) ?? true);
  const all = await Promise.all(devices.map((device) => showDevice(db, device)));
  const shown = all.filter(({ availability }) => wanted.includes(availability));
  const shortened = shown.map((device) => ({ ...device, windows: device.windows.slice(0, 1), channels: null }));
  return firstThatFits(shown, shortened);
});
