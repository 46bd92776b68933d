/**
 * What operators do to the batches of users. The owner reads the reason in `device_status`; the
 * audit trail gets one row for each call that changed something, in the transaction of the change.
 */

import { requireFound } from '../../errors.ts';
import type { Act } from '../../schemas/audit.ts';
import { type Batch, BatchRow } from '../../schemas/batch.ts';
import type { QueuePriority } from '../../schemas/values.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import { cancelBatch } from '../batches/cancellations.ts';
import type { Db } from '../dynamodb/db.ts';
import { getRow } from '../dynamodb/reads.ts';
import type { OperatorAct } from '../lifecycle/cancel.ts';
import { commitTask } from '../lifecycle/commit-tasks.ts';
import type { LifecycleTable } from '../lifecycle/lifecycle-db.ts';
import type { ScheduleRecovery } from '../lifecycle/schedule-recovery.ts';
import { setPriorityChange } from '../lifecycle/set-priority.ts';
import { auditWrite } from '../rows/acts.ts';
import { batchOf } from '../rows/batches.ts';

type ActDb = Db<LifecycleTable | 'Audit'>;

interface ActOnBatch {
  readonly operator: string;
  /** Whose batch it is. */
  readonly userId: string;
  readonly batchId: string;
  /** 1 to 512 characters. */
  readonly reason: string;
}

/**
 * Cancels the batch of a user and returns it, as cancelBatch does, with its errors and costs, and 2
 * to 4 write units for the audit. The `errors` of the jobs give the reason, also when the recovery
 * cancels them. A batch that is canceled, or being canceled, gets no other reason.
 */
export async function cancelBatchOfUser(
  db: ActDb,
  request: ActOnBatch,
  scheduleRecovery?: ScheduleRecovery,
): Promise<Batch> {
  const text = `An operator canceled the batch: ${request.reason}`;
  const changes = ({ status, open, jobs_count_per_status, device_status }: BatchRow) => ({
    before: { status, open, jobs_count_per_status, device_status },
    after: { status: 'CANCELED', open: false, device_status: text },
  });
  const now = fromMilliseconds(db.clock.now());
  const act = operatorAct(db, { ...request, action: 'batch.cancel', text, now, changes });
  return batchOf(await cancelBatch(db, request, { act, scheduleRecovery }));
}

/**
 * Gives the waiting batch of a user another priority and returns it: see setPriorityChange. 2 to 3
 * read units; 14 write units, for a row up to 1 KB in a queue.
 */
export async function setBatchPriority(
  db: ActDb,
  { priority, ...request }: ActOnBatch & { readonly priority: QueuePriority },
): Promise<Batch> {
  const { userId, batchId } = request;
  const text = `An operator set the priority to ${priority}: ${request.reason}`;
  const changed = ({ queue_priority, device_status }: BatchRow) => ({
    before: { queue_priority, device_status },
    after: { queue_priority: priority, device_status: text },
  });
  const now = fromMilliseconds(db.clock.now());
  const act = operatorAct(db, { ...request, action: 'batch.priority', text, now, changes: changed });
  const changes = async () => {
    const key = { user_id: userId, id: batchId };
    const batch = requireFound(await getRow(db, { table: 'Batches', key, schema: BatchRow }), 'batch');
    return [setPriorityChange({ batch, priority, now, act })];
  };
  const { batches } = await commitTask(db, { userId }, { changes });
  return batchOf(batches.get(batchId) as BatchRow);
}

interface Described extends ActOnBatch, Pick<Act, 'action'> {
  readonly text: string;
  /** A canonical time. */
  readonly now: string;
  /** What the act changes of the batch, as it was and as it is. */
  readonly changes: (before: BatchRow) => Pick<Act, 'before' | 'after'>;
}

function operatorAct(
  db: Db<'Audit'>,
  { operator, userId, batchId, reason, action, text, now, changes }: Described,
): OperatorAct {
  return {
    text,
    write: (before) => {
      const target = { user_id: userId, batch_id: batchId, device_type: before.device_type };
      return auditWrite(db, { at: now, operator, action, target, reason, ...changes(before) });
    },
  };
}
