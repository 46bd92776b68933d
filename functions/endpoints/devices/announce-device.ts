import { announceInQueue } from '../../data/batches/queue-counts.ts';
import { announceDevice } from '../../data/rows/devices.ts';
import { showDevice } from '../../data/rows/show-device.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './announce-device.operation.ts';

export const handler = endpoint(routes.announceDevice, operation, async ({ db, path, body }) => {
  const device = await announceDevice(db, path.device_type, body);
  await announceInQueue(db, device.device_type, body);
  return success(await showDevice(db, device));
});
