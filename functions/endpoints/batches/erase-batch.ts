import { resultsBucket } from '../../data/aws/results-bucket.ts';
import { eraseBatch } from '../../data/batches/erasures.ts';
import { countLongCall, recoveryByQueue } from '../../data/lifecycle/schedule-recovery.ts';
import { batchOf } from '../../data/rows/batches.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { requiredEnv } from '../../runtime/env.ts';
import { operation } from './erase-batch.operation.ts';

const bucket = resultsBucket(requiredEnv('RESULTS_BUCKET'));
const scheduleRecovery = recoveryByQueue();

export const handler = endpoint(routes.eraseBatch, operation, async ({ db, userId, path }) => {
  const of = { userId, batchId: path.batch_id };
  const erased = await countLongCall(db, { userId, scheduleRecovery }, (schedule) =>
    eraseBatch(db, bucket, of, schedule),
  );
  return success(batchOf(erased));
});
