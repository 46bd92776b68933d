/**
 * What operators do to the batches of users. The owner reads the reason in `device_status`; the
 * audit trail gets one row for each call that changed something, in the transaction of the change.
 */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { requireFound } from '../errors.ts';
import type { Act } from '../schemas/audit.ts';
import { type Batch, BatchRow } from '../schemas/batch.ts';
import type { QueuePriority } from '../schemas/values.ts';
import type { TableNames } from '../tables.ts';
import { fromMilliseconds } from '../timestamp.ts';
import { auditWrite } from './audit.ts';
import { batchOf } from './batches.ts';
import { cancelBatch } from './cancellations.ts';
import { getRow } from './dynamodb/reads.ts';
import type { OperatorAct } from './lifecycle/cancel.ts';
import { commitTask, type LifecycleOptions, writeContext } from './lifecycle/commit-tasks.ts';
import { setPriorityChange } from './lifecycle/set-priority.ts';

type Tables = TableNames<'Batches' | 'Columns' | 'DeviceQueue' | 'Audit'>;

export interface ActOnBatch {
  readonly operator: string;
  /** Whose batch it is. */
  readonly userId: string;
  readonly batchId: string;
  /** 1 to 512 characters. */
  readonly reason: string;
}

/**
 * The function that cancels the batch of a user and returns it. It does, throws and costs what
 * cancelBatch does, and 2 to 4 write units for the audit; the `errors` of the jobs say why, also of
 * those that the recovery cancels. A batch that is canceled, or being canceled, gets no other
 * reason.
 */
export function cancelBatchOfUser(
  client: DynamoDBDocumentClient,
  tables: Tables & TableNames<'Jobs'>,
  options: LifecycleOptions = {},
): (request: ActOnBatch) => Promise<Batch> {
  const cancel = cancelBatch(client, tables, options);
  return async (request) => {
    const text = `An operator canceled the batch: ${request.reason}`;
    const now = options.now?.() ?? Date.now();
    const changes = ({ status, open, jobs_count_per_status, device_status }: BatchRow) => ({
      before: { status, open, jobs_count_per_status, device_status },
      after: { status: 'CANCELED', open: false, device_status: text },
    });
    const act = operatorAct(tables, { ...request, action: 'batch.cancel', text, now, changes });
    return batchOf(await cancel(request.userId, request.batchId, { act }));
  };
}

/**
 * The function that gives the waiting batch of a user another priority and returns it: see
 * setPriorityChange. 2 to 3 read units; 14 write units, for a row up to 1 KB in a queue.
 */
export function setBatchPriority(
  client: DynamoDBDocumentClient,
  tables: Tables,
  options: LifecycleOptions = {},
): (request: ActOnBatch & { readonly priority: QueuePriority }) => Promise<Batch> {
  const context = writeContext(client, tables, options);
  return async ({ priority, ...request }) => {
    const { userId, batchId } = request;
    const now = context.now();
    const text = `An operator set the priority to ${priority}: ${request.reason}`;
    const changed = ({ queue_priority, device_status }: BatchRow) => ({
      before: { queue_priority, device_status },
      after: { queue_priority: priority, device_status: text },
    });
    const act = operatorAct(tables, { ...request, action: 'batch.priority', text, now, changes: changed });
    const changes = async () => {
      const key = { user_id: userId, id: batchId };
      const row = { table: tables.Batches, key, schema: BatchRow };
      const batch = requireFound(await getRow(client, row), 'batch');
      return [setPriorityChange({ lists: context.lists, batch, priority, now: fromMilliseconds(now), act })];
    };
    const { batches } = await commitTask({ ...context, userId }, { changes });
    return batchOf(batches.get(batchId) as BatchRow);
  };
}

interface Described extends ActOnBatch, Pick<Act, 'action'> {
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** What the act changes of the batch, as it was and as it is. */
  readonly changes: (before: BatchRow) => Pick<Act, 'before' | 'after'>;
}

function operatorAct(
  tables: TableNames<'Audit'>,
  { operator, userId, batchId, reason, action, text, now, changes }: Described,
): OperatorAct {
  return {
    text,
    write: (before) => {
      const target = { user_id: userId, batch_id: batchId, device_type: before.device_type };
      return auditWrite(tables, { at: fromMilliseconds(now), operator, action, target, reason, ...changes(before) });
    },
  };
}
