import { resultsBucket } from '../../data/aws/results-bucket.ts';
import { eraseBatch } from '../../data/batches/erasures.ts';
import { countLongCall, recoveryByQueue } from '../../data/lifecycle/schedule-recovery.ts';
import { asOwner } from '../../data/projects/access.ts';
import { batchOf } from '../../data/rows/batches.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { requiredEnv } from '../../runtime/env.ts';
import { operation } from './erase-batch.operation.ts';

const bucket = resultsBucket(requiredEnv('RESULTS_BUCKET'));
const scheduleRecovery = recoveryByQueue();

export const handler = endpoint(routes.eraseBatch, operation, async ({ db, path: { batch_id: id }, ...caller }) => {
  const erased = await countLongCall(db, { userId: caller.userId, scheduleRecovery }, (schedule) =>
    asOwner(db, caller, { right: 'change', table: 'Batches', id }, (owner) =>
      eraseBatch(db, bucket, { userId: owner, batchId: id }, schedule),
    ),
  );
  return success(batchOf(erased));
});
