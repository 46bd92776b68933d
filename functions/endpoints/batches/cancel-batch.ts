import { administratorsAct } from '../../data/batches/administrators-act.ts';
import { cancelBatch } from '../../data/batches/cancellations.ts';
import { countLongCall, recoveryByQueue } from '../../data/lifecycle/schedule-recovery.ts';
import { asOwner } from '../../data/projects/access.ts';
import { showBatch } from '../../data/rows/batches.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './cancel-batch.operation.ts';

const scheduleRecovery = recoveryByQueue();

export const handler = endpoint(routes.cancelBatch, operation, async ({ db, path: { batch_id: id }, ...caller }) => {
  const canceled = await countLongCall(db, { userId: caller.userId, scheduleRecovery }, (schedule) =>
    asOwner(db, caller, { right: 'end', table: 'Batches', id }, (owner) => {
      const act = administratorsAct(db, caller, { owner, action: 'batch.cancel' });
      return cancelBatch(db, { userId: owner, batchId: id }, { act, scheduleRecovery: schedule });
    }),
  );
  return success(await showBatch(db, canceled));
});
