import { cancelBatch } from '../../data/batches/cancellations.ts';
import { countLongCall, recoveryByQueue } from '../../data/lifecycle/schedule-recovery.ts';
import { batchOf } from '../../data/rows/batches.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './cancel-batch.operation.ts';

const scheduleRecovery = recoveryByQueue();

export const handler = endpoint(routes.cancelBatch, operation, async ({ db, userId, path }) => {
  const of = { userId, batchId: path.batch_id };
  const canceled = await countLongCall(db, { userId, scheduleRecovery }, (schedule) =>
    cancelBatch(db, of, { scheduleRecovery: schedule }),
  );
  return success(batchOf(canceled));
});
