import { documentClient } from '../../data/dynamodb/client.ts';
import { setBatchPriority } from '../../data/operators/operator-acts.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './set-batch-priority.operation.ts';

const set = setBatchPriority(documentClient(), tableNames('Batches', 'Columns', 'DeviceQueue', 'Audit'));

export const handler = endpoint(
  routes.setBatchPriority,
  operation,
  async ({ userId: operator, path, body: { queue_priority: priority, reason } }) =>
    success(await set({ operator, userId: path.user_id, batchId: path.batch_id, priority, reason })),
);
