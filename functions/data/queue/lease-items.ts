/** The items of batches in a queue as leases: taking one, keeping it, and giving it up. */

import { randomUUID } from 'node:crypto';
import type { LeaseReference } from '../../schemas/lease.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import { assign } from '../dynamodb/assign.ts';
import { isConflict } from '../dynamodb/aws-errors.ts';
import type { Db } from '../dynamodb/db.ts';
import { batchGet, type Item } from '../dynamodb/reads.ts';
import {
  DeviceSettings,
  deviceMicroseconds,
  lastHeartbeat,
  leaseLost,
  leaseMilliseconds,
  QueueItem,
} from './queue-item.ts';
import { retryConflicts, type Updated, updateItem } from './update-item.ts';

/**
 * Takes the lease of a batch without one, and returns it. Undefined when another worker was faster,
 * or another call is changing the batch. If a device let its lease run out while it ran a job, it
 * counts as lost; it counts as unseen if it never showed that it had the lease. 1 write unit.
 */
export async function takeLease(
  db: Db<'DeviceQueue'>,
  item: QueueItem,
  { worker, settings = {} }: { readonly worker: string; readonly settings?: DeviceSettings },
): Promise<QueueItem | undefined> {
  const isLost = item.lease_until > 0 && item.idle_since === undefined;
  // Settings that no longer exist are not kept from an earlier lease.
  const { seen, put_back, entered_at, job_since, idle_seconds, max_batch_seconds, ...rest } = item;
  const job_spent = deviceMicroseconds({}, item, lastHeartbeat(item)) / 1_000;
  const changes = {
    ...settings,
    held_since: db.clock.now(),
    fence: item.fence + 1,
    lease_until: db.clock.now() + leaseMilliseconds,
    losses: item.losses + (isLost && seen ? 1 : 0),
    unseen_losses: item.unseen_losses + (isLost && !seen ? 1 : 0),
    ...(job_spent > 0 && { job_spent }),
    worker,
    claim_id: randomUUID(),
  };
  const taken = { ...rest, ...changes };
  const { assignments, values } = assign(changes);
  const unset = Object.keys(DeviceSettings.shape).filter((name) => !(name in settings));
  const removed = ['seen', 'put_back', 'entered_at', 'job_since', ...unset].join();
  const outcome = await updateItem(db, item, {
    UpdateExpression: `SET ${assignments} REMOVE ${removed}`,
    ConditionExpression: 'fence = :current AND lease_until <= :held_since',
    ExpressionAttributeValues: { ...values, ':current': item.fence },
  }).catch((error: unknown) => {
    // A transaction is at the item, such as the end of its batch: other batches need not wait
    // for that.
    if (isConflict(error)) return undefined;
    throw error;
  });
  if (outcome === undefined) return undefined;
  // The SDK repeats a call that was not answered: then the first attempt may have taken it.
  if ('updated' in outcome) return taken;
  const { foundInstead } = outcome;
  return foundInstead !== 'none' && foundInstead.claimId === taken.claim_id ? taken : undefined;
}

/**
 * The batch under this lease; undefined when the batch has left the queue. Throws LeaseLost when
 * the lease is not the current one. 1 read unit.
 */
export async function getLeased(db: Db<'DeviceQueue'>, lease: LeaseReference): Promise<QueueItem | undefined> {
  const found = await itemOf(db, lease);
  if (found === undefined) return undefined;
  return requireCurrent(storedRow(QueueItem, found), lease);
}

/** Whether the batch has left the queue, or waits there as the lease left it. 1 read unit. */
export async function wasGivenUp(db: Db<'DeviceQueue'>, lease: LeaseReference): Promise<boolean> {
  const item = await itemOf(db, lease);
  return item === undefined || (item.fence === lease.fence + 1 && item.lease_until === 0);
}

/**
 * As getLeased, and renews the lease for another minute. Remembers that its worker was seen, and
 * the SHA-256 of results if one is given. 1 write unit.
 */
export async function renewLease(
  db: Db<'DeviceQueue'>,
  lease: LeaseReference,
  sha256?: string,
): Promise<QueueItem | undefined> {
  const life = { lease_until: db.clock.now() + leaseMilliseconds, seen: true } as const;
  const outcome = await updateLeased(db, lease, { ...life, ...(sha256 && { results_sha256: sha256 }) });
  if ('updated' in outcome) return storedRow(QueueItem, outcome.updated ?? {});
  if (outcome.foundInstead === 'none') return undefined;
  throw leaseLost();
}

/** Ends the lease now, as if its worker were lost. 1 write unit. */
export async function expireLease(db: Db<'DeviceQueue'>, lease: LeaseReference): Promise<void> {
  await updateLeased(db, lease, { lease_until: db.clock.now() });
}

/**
 * Gives a lease up, and leaves the rows of its batch as they are: it can be claimed at once,
 * and its worker has lost it. Does nothing when the lease is not the current one. 1 write unit.
 */
export async function freeLease(db: Db<'DeviceQueue'>, lease: LeaseReference): Promise<void> {
  await updateLeased(db, lease, { fence: lease.fence + 1, lease_until: 0 });
}

/** Read as the lifecycle reads it, so that functions need one right alone. */
async function itemOf(db: Db<'DeviceQueue'>, lease: LeaseReference): Promise<Item | undefined> {
  const [item] = await batchGet(db, { table: 'DeviceQueue', keys: [keyOf(lease)], consistent: true });
  return item;
}

/**
 * Sets attributes of a batch under its current lease, as `updateItem`. A transaction at the batch,
 * such as a user's cancellation, passes soon: a worker's call waits for it.
 */
function updateLeased(db: Db<'DeviceQueue'>, lease: LeaseReference, attributes: Partial<QueueItem>): Promise<Updated> {
  const { assignments, values } = assign(attributes);
  const input = {
    UpdateExpression: `SET ${assignments}`,
    ConditionExpression: 'fence = :held AND user_id = :user',
    ExpressionAttributeValues: { ...values, ':held': lease.fence, ':user': lease.userId },
    ReturnValues: 'ALL_NEW',
  } as const;
  return retryConflicts(db, () => updateItem(db, keyOf(lease), input), 3);
}

function keyOf({ deviceType, key }: LeaseReference) {
  return { device_type: deviceType, key };
}

function requireCurrent(item: QueueItem, { fence, userId }: LeaseReference): QueueItem {
  if (item.fence === fence && item.user_id === userId) return item;
  throw leaseLost();
}
