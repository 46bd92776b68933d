import { CorruptData, LeaseLost } from '../../errors.ts';
import { BatchRow } from '../../schemas/batch.ts';
import type { LeaseReference, NextJob } from '../../schemas/lease.ts';
import { countRunnable } from '../../statuses.ts';
import { getRow } from '../dynamodb/reads.ts';
import type { LifecycleDb } from '../lifecycle/lifecycle-db.ts';
import { firstPendingPosition } from '../lifecycle/pending-calls.ts';
import { isClaimable } from '../lifecycle/queue-writes.ts';
import { isOverTime } from '../lifecycle/run-jobs.ts';
import { batchIdOfKey } from '../queue/fair-order.ts';
import { getLeased, renewLease } from '../queue/lease-items.ts';
import { maxIdleMilliseconds, type QueueItem } from '../queue/queue-item.ts';
import { advance, ended, giveUpLease, idleAgainMilliseconds, jobFinder, nextJobOf } from './leased-jobs.ts';

/**
 * Returns the job that runs under a lease, or starts the next one. The lease then lives for another
 * minute. If there is no job to run:
 * - An open batch without further jobs waits for two minutes, then it is TIMED_OUT. After an hour
 *   at the device, it goes behind the others.
 * - If a call is still adding jobs after that time, the lease ends instead. The batch is taken
 *   again once the call is complete.
 * - If an operator lets the device start nothing, the lease ends as well.
 *
 * Throws LeaseLost. 1 write unit and 1 read unit while the batch waits.
 */
export async function nextJob(db: LifecycleDb, lease: LeaseReference): Promise<NextJob> {
  const { clock } = db;
  const item = await renewLease(db, lease);
  if (item === undefined) return ended;
  const { idle_since, rules_until = 0 } = item;
  if (idle_since !== undefined && clock.now() - idle_since < maxIdleMilliseconds(item)) {
    const key = { user_id: lease.userId, id: batchIdOfKey(lease.key) };
    const batch = await getRow(db, { table: 'Batches', key, schema: BatchRow() });
    if (batch === undefined) throw new CorruptData('A batch in a queue is missing.');
    if (!isClaimable(batch)) return ended;
    const keepsWaiting = clock.now() < rules_until && !isOverTime(batch, item, clock.now());
    if (countRunnable(batch.jobs_count_per_status) === 0 && keepsWaiting)
      return nextJobOf(db, lease, { kind: 'waits', batch, idleSince: idle_since });
  }
  try {
    return await startNext(db, lease, item);
  } catch (error) {
    if (error instanceof LeaseLost && (await getLeased(db, lease)) === undefined) return ended;
    throw error;
  }
}

async function startNext(db: LifecycleDb, lease: LeaseReference, item: QueueItem): Promise<NextJob> {
  const progress = await advance(db, lease, { from: item.place, find: jobFinder(db, lease, item) });
  const now = db.clock.now();
  if (
    progress.kind === 'waits' &&
    now - progress.idleSince >= maxIdleMilliseconds(item) &&
    firstPendingPosition(progress.batch) < Number.POSITIVE_INFINITY
  ) {
    // The call that adds jobs may have died, and is ended in a while: until then the device has
    // other work.
    await giveUpLease(db, lease, item, { kind: 'released', until: now + idleAgainMilliseconds });
    return ended;
  }
  return nextJobOf(db, lease, progress);
}
