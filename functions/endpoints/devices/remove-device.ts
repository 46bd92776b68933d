import { documentClient } from '../../data/dynamodb/client.ts';
import { removeDevice } from '../../data/rows/devices.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './remove-device.operation.ts';

const remove = removeDevice(documentClient(), tableNames('Devices', 'DeviceQueue'));

export const handler = endpoint(routes.removeDevice, operation, async ({ path }) => {
  await remove(path.device_type);
  return success(null);
});
