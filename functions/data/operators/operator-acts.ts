/**
 * What operators do to the batches of users. The owner reads the reason in `device_status`; the
 * audit trail gets one row for each call that changed something, in the transaction of the change,
 * and one for each batch that was read.
 */

import { requireFound } from '../../errors.ts';
import type { Batch, BatchDetails, BatchRow } from '../../schemas/batch.ts';
import type { QueuePriority } from '../../schemas/values.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import { getBatchDetails } from '../batches/batch-details.ts';
import { cancelBatch } from '../batches/cancellations.ts';
import type { Db } from '../dynamodb/db.ts';
import { sendTransaction } from '../dynamodb/optimistic-transaction.ts';
import { auditedAct, targetOf } from '../lifecycle/audited-act.ts';
import { commitTask, type Task } from '../lifecycle/commit-tasks.ts';
import type { LifecycleTable } from '../lifecycle/lifecycle-db.ts';
import type { ScheduleRecovery } from '../lifecycle/schedule-recovery.ts';
import { setPriorityChange } from '../lifecycle/set-priority.ts';
import { auditWrite } from '../rows/acts.ts';
import { type BatchOfUser, getBatchRow, showBatch } from '../rows/batches.ts';

export type ActDb = Db<LifecycleTable | 'Audit'>;

interface ActOnBatch extends BatchOfUser {
  readonly operator: string;
  readonly operatorName?: string | undefined;
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
  const { operator, operatorName: operator_name, reason } = request;
  const at = fromMilliseconds(db.clock.now());
  const act = auditedAct(db, {
    ...{ at, operator, operator_name, action: 'batch.cancel', reason, text },
    changes: ({ status, open, jobs_count_per_status, device_status }) => ({
      before: { status, open, jobs_count_per_status, device_status },
      after: { status: 'CANCELED', open: false, device_status: text },
    }),
  });
  return showBatch(db, await cancelBatch(db, request, { act, scheduleRecovery }));
}

/**
 * Gives the waiting batch of a user another priority and returns it: see setPriorityChange. 2 to 3
 * read units; 14 write units, for a row up to 1 KB in a queue.
 */
export async function setBatchPriority(db: ActDb, act: NewPriority): Promise<Batch> {
  const { userId, batchId } = act;
  const { batches } = await commitTask(db, { userId }, priorityTask(db, act));
  return showBatch(db, batches.get(batchId) as BatchRow);
}

export interface NewPriority extends ActOnBatch {
  readonly priority: QueuePriority;
}

/** What setBatchPriority commits. */
export function priorityTask(
  db: ActDb,
  { priority, operator, operatorName: operator_name, userId, batchId, reason }: NewPriority,
): Task {
  const text = `An operator set the priority to ${priority}: ${reason}`;
  const now = fromMilliseconds(db.clock.now());
  const act = auditedAct(db, {
    ...{ at: now, operator, operator_name, action: 'batch.priority', reason, text },
    changes: ({ queue_priority, device_status }) => ({
      before: { queue_priority, device_status },
      after: { queue_priority: priority, device_status: text },
    }),
  });
  const changes = async () => {
    const batch = requireFound(await getBatchRow(db, userId, batchId), 'batch');
    return [setPriorityChange({ batch, priority, now, act })];
  };
  return { changes };
}

/**
 * Reads the batch of a user for an operator: see getBatchDetails. It is returned once the audit
 * trail has its row: 2 write units. Throws NotFound.
 */
export async function readBatchOfUser(
  db: Db<'Batches' | 'Jobs' | 'Columns' | 'Sequences' | 'Audit'>,
  { operator, operatorName: operator_name, userId, batchId }: Omit<ActOnBatch, 'reason'>,
): Promise<BatchDetails> {
  const batch = requireFound(await getBatchDetails(db, userId, batchId), 'batch');
  const at = fromMilliseconds(db.clock.now());
  const act = { at, operator, operator_name, action: 'batch.read', target: targetOf(batch), reason: null } as const;
  await sendTransaction(db, { TransactItems: [auditWrite(db, { ...act, before: null, after: null })] });
  return batch;
}
