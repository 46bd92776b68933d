import { documentClient } from '../../data/dynamodb/client.ts';
import { listQueue } from '../../data/operators/device-queue.ts';
import { endpoint } from '../../http/endpoint.ts';
import { pageReply } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { addToRequestLog } from '../../runtime/request-log.ts';
import { operation } from './list-queue.operation.ts';

const list = listQueue(documentClient(), tableNames('Batches', 'DeviceQueue'));

export const handler = endpoint(routes.listQueue, operation, async ({ path: { device_type }, query }) => {
  addToRequestLog({ device_type });
  return pageReply(query, await list(device_type, query));
});
