import { recoveryByQueue } from '../../data/lifecycle/schedule-recovery.ts';
import { cancelBatchOfUser } from '../../data/operators/operator-acts.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './cancel-batch-of-user.operation.ts';

const scheduleRecovery = recoveryByQueue();

export const handler = endpoint(
  routes.cancelBatchOfUser,
  operation,
  async ({ db, userId: operator, claims, path, body }) => {
    const operatorName = claims.user_name;
    const act = { operator, operatorName, userId: path.user_id, batchId: path.batch_id, reason: body.reason };
    return success(await cancelBatchOfUser(db, act, scheduleRecovery));
  },
);
