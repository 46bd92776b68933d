/**
 * Devices do the work: a worker claims a batch of its device, runs its jobs one after the other,
 * and reports each. A lease keeps the batch for the worker until a minute after the last heartbeat;
 * then the next claim takes the batch over. Jobs run at least once, with fencing: a worker may die
 * at any moment, and its calls are refused once it has lost its lease.
 */

import { LeaseLost } from '../../errors.ts';
import type { Heartbeat, LeaseReference } from '../../schemas/lease.ts';
import { isFinalJob } from '../../statuses.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import type { Db } from '../dynamodb/db.ts';
import type { LifecycleDb } from '../lifecycle/lifecycle-db.ts';
import { noSuchJob } from '../lifecycle/run-jobs.ts';
import { expireLease, getLeased, renewLease } from '../queue/lease-items.ts';
import { isJobOverTime, leaseMilliseconds, leaseOf, type QueueItem } from '../queue/queue-item.ts';
import { getJobRow, giveUpLease } from './leased-jobs.ts';

/**
 * Keeps a lease alive for another minute. Also reports whether to stop the job: because it has
 * ended, its batch has, or it has run for longer than it may. A worker that goes on loses the lease
 * a minute later. Throws LeaseLost; NotFound when the batch has no such job. 1 write unit and 1
 * read unit for each 4 KB of the job.
 */
export async function extendLease(
  db: Db<'Jobs' | 'DeviceQueue'>,
  lease: LeaseReference,
  jobId: string | null,
): Promise<Heartbeat> {
  const { clock } = db;
  const [item, job] = await Promise.all([
    renewLease(db, lease),
    jobId === null ? undefined : getJobRow(db, lease, jobId),
  ]);
  if (item === undefined) return { expires_at: fromMilliseconds(clock.now()), cancel: true };
  if (jobId !== null && job === undefined) throw noSuchJob();
  const cancel = job !== undefined && (isFinalJob(job) || isJobOverTime(item, clock.now()));
  // A worker that only sends heartbeats, and does not stop the job, must not keep it for good.
  const isKept = !isJobOverTime(item, clock.now() - leaseMilliseconds);
  if (!isKept) await expireLease(db, lease);
  return { expires_at: fromMilliseconds(isKept ? item.lease_until : clock.now()), cancel };
}

/**
 * Gives up a lease, so that its batch can be claimed at once: see releaseBatch. A lost lease stays
 * lost. Costs, beside the lifecycle's: 2 write units, 2.5 read units.
 */
export async function releaseLease(db: LifecycleDb, lease: LeaseReference): Promise<void> {
  const item = await getLeased(db, lease).catch(ignoreLost);
  if (item === undefined) return;
  await giveUpLease(db, lease, item, { kind: 'released', until: 0 }).catch(ignoreLost);
}

/** A lease that is lost already need not be given up. */
function ignoreLost(error: unknown): undefined {
  if (!(error instanceof LeaseLost)) throw error;
}

/**
 * Puts a batch back whose lease has run out, so that its user sees that it waits: see releaseBatch.
 * Does nothing where a claim or a heartbeat came first. Costs as releaseLease.
 */
export function putBackBatch(db: LifecycleDb, item: QueueItem): Promise<void> {
  return giveUpLease(db, leaseOf(item), item, { kind: 'lapsed' }).catch(ignoreLost);
}
