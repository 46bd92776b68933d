/**
 * The items of the DeviceQueue table: one for each batch that waits for a device or is at one, and
 * the device's clock. An item's key is its place and never changes: a batch that goes further back
 * gets another item. The item is written in the transaction that gives the batch something to run,
 * and deleted in the transaction that leaves it nothing to run (lifecycle/queue-writes.ts).
 */

import * as z from 'zod/mini';
import { CorruptData, LeaseLost } from '../../errors.ts';
import type { LeaseReference } from '../../schemas/lease.ts';
import { onDemand } from '../../schemas/on-demand.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import { Count, OptionalCount, QueuePriority } from '../../schemas/values.ts';
import { timeLimits } from '../../time-limits.ts';

/** What a device sets for batches that it has, where it differs from the defaults. */
export const DeviceSettings = z.object({
  /** How long an open batch may keep the device waiting for jobs; 120 by default. */
  idle_seconds: OptionalCount,
  /** After this time an open batch goes behind the others; 3,600 by default. */
  max_batch_seconds: OptionalCount,
});
export type DeviceSettings = z.infer<typeof DeviceSettings>;

export function maxIdleMilliseconds({ idle_seconds = 120 }: DeviceSettings): number {
  return idle_seconds * 1_000;
}

/** A batch in the queue, and its lease. */
export const QueueItem = z.extend(DeviceSettings, {
  device_type: z.string(),
  /** Its place: see fair-order.ts. */
  key: z.string(),
  user_id: z.string(),
  /**
   * The number of its lease, one higher with each claim and each release, and higher than all that
   * the batch had before. A worker with an earlier number has lost the lease.
   */
  fence: Count,
  /** When the lease ends, in milliseconds since 1970; 0: the batch is free. */
  lease_until: Count,
  /** `creation_order` of the job that the device runs, or of the first that it may find. */
  place: Count,
  /**
   * The sequence number that the batch's job 0 has if the jobs up to `place` follow each other.
   * Where others lie between them, it fits the job at `place`. Absent where that is not known.
   */
  first_seq: OptionalCount,
  /** How many devices were lost while they ran that job. */
  losses: Count,
  /**
   * How often that job was handed out without a later call of its worker, which may never have got
   * the answer to its claim.
   */
  unseen_losses: Count,
  /** When the job that runs was handed out under this lease, in milliseconds since 1970. */
  job_since: OptionalCount,
  /** How long devices that were lost worked on that job, in milliseconds. */
  job_spent: OptionalCount,
  /** A call under this lease has come: its worker has it. */
  seen: z.exactOptional(z.literal(true)),
  /**
   * Since when the device waits for further jobs, in milliseconds since 1970; absent while it runs
   * one.
   */
  idle_since: OptionalCount,
  /** The job that the holder of the lease runs; absent while it waits for one. */
  job_id: z.exactOptional(z.string()),
  /** When that job has run for `max_job_seconds`, in milliseconds since 1970. */
  job_until: OptionalCount,
  /** How long it may run; absent without a bound. */
  max_job_seconds: OptionalCount,
  /**
   * Beside `idle_since`: until when the device's rules allow the wait, in milliseconds since 1970.
   * Absent once they were changed.
   */
  rules_until: OptionalCount,
  /** The `rev` of the device's rules, written by their change while the batch was leased. */
  rules_rev: OptionalCount,
  /** When it entered the queue, in milliseconds since 1970; absent once a claim has taken it. */
  entered_at: OptionalCount,
  /** Since when the holder of the lease has the batch, in milliseconds since 1970. */
  held_since: OptionalCount,
  /** The batch is free, and its rows show that it waits. */
  put_back: z.exactOptional(z.literal(true)),
  /** Of the document for which a link was asked last. */
  results_sha256: z.exactOptional(z.string()),
  /** Jobs that it had to run when the item was written. */
  jobs_left: Count,
  /** How often each of them is run, on average; absent where that is not known. */
  job_shots: OptionalCount,
  /** Microseconds of ended jobs that its batch carries: no one has counted them as busy yet. */
  uncounted_us: OptionalCount,
  /** What the holder of the lease calls itself. */
  worker: z.exactOptional(z.string()),
  /**
   * Identifies the claim that took the lease, so that a claim that was repeated on its way finds
   * its own.
   */
  claim_id: z.exactOptional(z.string()),
});
export type QueueItem = z.infer<typeof QueueItem>;

/** What the front of a queue shows of a batch. */
export const FrontItem = z.pick(QueueItem, {
  key: true,
  user_id: true,
  lease_until: true,
  worker: true,
  job_since: true,
  job_until: true,
  idle_since: true,
  idle_seconds: true,
  entered_at: true,
  jobs_left: true,
  job_shots: true,
});
export type FrontItem = z.infer<typeof FrontItem>;

/** A batch that has just entered the queue. */
export function newQueueItem(
  place: Pick<QueueItem, 'device_type' | 'key' | 'user_id' | 'jobs_left' | 'job_shots'>,
): QueueItem {
  return { ...place, fence: 0, lease_until: 0, place: 0, losses: 0, unseen_losses: 0 };
}

/**
 * A device's virtual time: the tag of the batch that it took last. Its key sorts before all
 * batches, so a claim reads both at once.
 */
export const deviceClockKey = '!clock';

/** The tag of a device's clock; 0 where no device has taken a batch yet. */
export function clockTag(clock: Readonly<Record<string, unknown>> | undefined): number {
  const tag = clock?.tag ?? 0;
  if (!Number.isSafeInteger(tag)) throw new CorruptData('The clock of a device has no tag.');
  return tag as number;
}

/** The owner's clock for a device, as the Columns table holds it: see fair-order.ts. */
export const StoredUserClock = onDemand(() => {
  const withdrawn = z.array(z.tuple([Count, Count]));
  return z.object({ clocks: z.partialRecord(QueuePriority, z.object({ end: Count, withdrawn })) });
});

/** What a device's clock or its rules set for batches: a claim has read both. */
export function deviceSettings(item: object | undefined): DeviceSettings {
  return storedRow(DeviceSettings, { ...item });
}

/** Keys of all batches sort from here on; the keys of the device's clock and rules sort before. */
const firstBatchKey = '0';

export function isBatch({ key }: Readonly<Record<string, unknown>>): boolean {
  return typeof key === 'string' && key >= firstBatchKey;
}

export function leaseOf({ device_type, key, fence, user_id }: QueueItem): LeaseReference {
  return { deviceType: device_type, key, fence, userId: user_id };
}

/** Whether the job that runs has taken longer than it may. */
export function isJobOverTime({ job_until }: Pick<QueueItem, 'job_until'>, now: number): boolean {
  return job_until !== undefined && now >= job_until;
}

export function leaseLost(): LeaseLost {
  return new LeaseLost('The lease is lost: another worker has the batch, or may have it.');
}

/**
 * How long a lease lives after the last heartbeat, in milliseconds: longer than any function runs.
 */
export const leaseMilliseconds = 1_000 * timeLimits.lease;

/** Lost devices after which a job is given up. */
export const maxLosses = 3;

/**
 * How long devices have worked on the job until a time, in microseconds: under the leases before,
 * under lost leases since, and under the present one.
 */
export function deviceMicroseconds(
  { device_us = 0 }: { readonly device_us?: number },
  { job_spent = 0, job_since }: Pick<QueueItem, 'job_spent' | 'job_since'>,
  until: number,
): number {
  return device_us + (job_spent + (job_since === undefined ? 0 : Math.max(0, until - job_since))) * 1_000;
}

/** The last sign of life of the worker that holds the lease, in milliseconds since 1970. */
export function lastHeartbeat({ lease_until }: Pick<QueueItem, 'lease_until'>): number {
  return lease_until - leaseMilliseconds;
}

/**
 * Claims without a later call after which a job is given up as well: it may crash workers before
 * their first heartbeat, within 20 s. Lost answers do not add up to this: even if every fourth
 * answer gets lost, they end one job in a million.
 */
export const maxUnseenLosses = 10;
