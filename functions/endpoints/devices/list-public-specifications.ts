import { documentClient } from '../../data/dynamodb/client.ts';
import { listDevices } from '../../data/rows/devices.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './list-public-specifications.operation.ts';

const list = listDevices(documentClient(), tableNames('Devices'));

export const handler = endpoint(routes.listPublicSpecifications, operation, async () => {
  const devices = await list();
  const shown = devices.filter((device) => device.public && device.specs !== undefined);
  return success(shown.map(({ device_type, specs }) => ({ device_type, specs })));
});
