import { cancelBatches } from '../../data/batches/cancellations.ts';
import { countLongCall, recoveryByQueue } from '../../data/lifecycle/schedule-recovery.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './cancel-batches.operation.ts';

const scheduleRecovery = recoveryByQueue();

/** Enough for a transaction that has to wait for others, with what comes before and after it. */
const reservedSeconds = 6;
const milliseconds = (routes.cancelBatches.timeoutSeconds - reservedSeconds) * 1_000;

export const handler = endpoint(routes.cancelBatches, operation, async ({ db, userId, claims, body }) => {
  const end = db.clock.now() + milliseconds;
  const batches = { userId, claims, batchIds: body.batch_ids, hasTime: () => db.clock.now() < end };
  const canceled = await countLongCall(db, { userId, scheduleRecovery }, async (schedule, begin) => {
    if (batches.batchIds.length > 1) await begin();
    return cancelBatches(db, batches, schedule);
  });
  return success(canceled);
});
