import { listQueue } from '../../data/device-queue.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { pageReply } from '../../http/reply.ts';
import { addToRequestLog } from '../../request-log.ts';
import { routes } from '../../routes.ts';
import { operation } from './list-queue.operation.ts';

const list = listQueue(documentClient(), tableNames('Batches', 'DeviceQueue'));

export const handler = endpoint(routes.listQueue, operation, async ({ path: { device_type }, query }) => {
  addToRequestLog({ device_type });
  return pageReply(query, await list(device_type, query));
});
