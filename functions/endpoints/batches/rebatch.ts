import { rebatch } from '../../data/batches/rebatches.ts';
import { countLongCall, recoveryByQueue } from '../../data/lifecycle/schedule-recovery.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './rebatch.operation.ts';

const scheduleRecovery = recoveryByQueue();

export const handler = endpoint(routes.rebatch, operation, async ({ db, userId, claims, path, query, headers }) => {
  const call = { userId, claims, idempotencyKey: headers['idempotency-key'] };
  const batch = await countLongCall(db, { userId, scheduleRecovery }, (schedule) =>
    rebatch(db, call, { batchId: path.batch_id, query }, schedule),
  );
  const { jobs, ...withoutJobs } = batch;
  return firstThatFits(batch, withoutJobs);
});
