import { setBatchPriority } from '../../data/operators/operator-acts.ts';
import { previewPriority } from '../../data/operators/preview-acts.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './set-batch-priority.operation.ts';

export const handler = endpoint(
  routes.setBatchPriority,
  operation,
  async ({ db, userId: operator, claims, path, query, body: { queue_priority: priority, reason } }) => {
    const operatorName = claims.user_name;
    const act = { operator, operatorName, userId: path.user_id, batchId: path.batch_id, priority, reason };
    return success(await (query.preview ? previewPriority : setBatchPriority)(db, act));
  },
);
