import { IllegalTransition, requireFound } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { LeaseReference } from '../../schemas/lease.ts';
import type { QueuePriority } from '../../schemas/values.ts';
import { isStopping } from '../../statuses.ts';
import type { QueueItem } from '../queue/queue-item.ts';
import type { AuditedAct } from './audited-act.ts';
import { type Change, type Draft, reportedBatch, visibleBatch, withRows, withWrite } from './draft.ts';
import { JobsLeft } from './end-jobs.ts';
import { updateRow } from './update-row.ts';

interface NewPriority {
  /** As it was read before: says where the batch is in its queue. */
  readonly batch: Pick<BatchRow, 'id' | 'user_id' | 'device_type' | 'queue_key'>;
  readonly priority: QueuePriority;
  /** The present, as a canonical time. */
  readonly now: string;
  readonly act: AuditedAct;
}

/**
 * Gives a waiting batch another priority. In a queue, it leaves its place, gets back what it was
 * charged, and enters anew as a batch of that priority would. The number of devices that its job
 * has lost goes with it. A batch of this priority stays as it is. Throws NotFound;
 * IllegalTransition when the batch has ended, a device has it, or an event made it; JobsLeft when
 * its place has changed since it was read.
 */
export function setPriorityChange({ batch: found, priority, now, act }: NewPriority): Change {
  const { id, user_id: userId, device_type: deviceType, queue_key } = found;
  const lease: LeaseReference | undefined =
    typeof queue_key === 'string' ? { deviceType, key: queue_key, fence: 0, userId } : undefined;
  return {
    batchIds: [id],
    jobIds: [],
    lease,
    apply(draft) {
      const batch = requireFound(reportedBatch(draft, id), 'batch');
      const { status } = visibleBatch(draft, id) as BatchRow;
      if (isStopping(status) || batch.canceling) {
        throw new IllegalTransition('batch_ended', `The batch is ${status} and does not wait.`);
      }
      const item = draft.stored.leased;
      if (batch.queue_key !== queue_key || (lease !== undefined && item === undefined)) throw new JobsLeft();
      const waits = item === undefined ? queue_key === null && status === 'PENDING' : isFree(item);
      if (!waits)
        throw new IllegalTransition(
          'batch_not_waiting',
          'The batch does not wait: a device has it, or it is in no queue.',
        );
      if (batch.queue_priority === priority) return draft;
      const update = { queue_priority: priority, device_status: act.text };
      const after = updateRow<BatchRow>(batch, update, { kind: 'direct call', time: now });
      return withWrite(entersAnew(withRows(draft, { batches: [after] }), item), act.write(batch));
    },
  };
}

/** The batch has no lease, and its rows show that it waits. */
function isFree({ lease_until, put_back }: QueueItem): boolean {
  return lease_until === 0 || put_back === true;
}

function entersAnew(draft: Draft, item: QueueItem | undefined): Draft {
  if (item === undefined) return draft;
  const { place, losses, unseen_losses, lease_until } = item;
  return { ...draft, lease: { item, place, losses, unseen_losses, lease_until, entersAnew: true } };
}
