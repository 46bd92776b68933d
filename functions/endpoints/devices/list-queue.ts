import { listQueue } from '../../data/operators/device-queue.ts';
import { endpoint } from '../../http/endpoint.ts';
import { pageReply } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { addToRequestLog } from '../../runtime/request-log.ts';
import { operation } from './list-queue.operation.ts';

export const handler = endpoint(routes.listQueue, operation, async ({ db, path: { device_type }, query }) => {
  addToRequestLog({ device_type });
  return pageReply(query, await listQueue(db, device_type, query));
});
