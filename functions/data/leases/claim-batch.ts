/** How a worker gets a batch of its device: under a lease, with the first job to run. */

import { LeaseLost } from '../../errors.ts';
import { addToRequestLog, countInRequestLog, describeError } from '../../runtime/request-log.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import { type Claim, type LeasedBatch, leaseText } from '../../schemas/lease.ts';
import { timeLimits } from '../../time-limits.ts';
import { parseStoredObject } from '../../values/json-text.ts';
import { fromMilliseconds, toMicroseconds } from '../../values/timestamp.ts';
import type { Db } from '../dynamodb/db.ts';
import { keptWith } from '../dynamodb/kept-with.ts';
import type { LifecycleDb, LifecycleTable } from '../lifecycle/lifecycle-db.ts';
import { type Pause, pauseAt } from '../queue/device-rules.ts';
import { batchIdOfKey, tagOfKey } from '../queue/fair-order.ts';
import { noteIdleWorker } from '../queue/idle-workers.ts';
import { freeLease, takeLease } from '../queue/lease-items.ts';
import { moveClock, noteWorker, type QueuePage, queuePages } from '../queue/queue.ts';
import { type DeviceSettings, leaseOf, type QueueItem } from '../queue/queue-item.ts';
import { withConstants } from '../rows/constants.ts';
import { announceByClaim } from '../rows/devices.ts';
import { getSequence } from '../rows/sequences.ts';
import { advance, giveUpLease, idleAgainMilliseconds, jobFinder, leasedJob } from './leased-jobs.ts';

/**
 * How long after its last call a worker sends a heartbeat: one may be lost, also where clocks of
 * functions are some seconds apart.
 */
const heartbeatSeconds = 20;

/** Seconds after which a worker that got no batch asks again, and at most during a pause. */
const claimAgainSeconds = 3;
const maxClaimAgainSeconds = 60;

interface NoBatch {
  /** Seconds after which to ask again. */
  readonly retry_after: number;
}

/** An idle worker is noted again after this time: what was seen within a minute counts. */
const noteMilliseconds = 30_000;
const maxNoted = 1_000;

/** When this process has noted idle workers, by device and name. */
const notedBy = keptWith(() => new Map<string, number>());

type ClaimDb = Db<LifecycleTable | 'Devices'>;

/** A claim, and what it knows of the queue so far. */
interface Search {
  readonly deviceType: string;
  readonly worker: string;
  /** It stops looking for work then, in milliseconds since 1970. */
  readonly end: number;
  /** What stopped batches that could not begin. */
  readonly failures: unknown[];
  /** Whether there was a batch without a lease. */
  isAnyFree: boolean;
  /** Whether the device is announced. */
  isKnown: boolean;
}

/**
 * Claims the first batch of a device that no worker holds, with its first unfinished job; both
 * become RUNNING. Returns NoBatch if there is none, or while an operator lets the device take none.
 * Once the operator's call has its answer, no batch is handed out.
 *
 * - Skips leased batches; takes over batches whose lease ran out.
 * - Begins a batch as soon as its creation has its answer: no index delays it.
 * - A job becomes ERROR after three lost workers, or ten claims without a call. An open batch
 *   becomes TIMED_OUT after two idle minutes.
 * - A repeated claim gets another batch: two workers of one name must not have the same.
 * - Skips a batch that cannot begin. Its error is thrown only if no other batch begins.
 * - Announces a device that is not announced, before the first of its batches is taken. So the
 *   queue of each device where workers have batches is measured.
 *
 * Costs, beside the lifecycle's writes: 2 read units for each 25 batches of the queue, 3 write
 * units, another one when the device's clock moves, and the reads of batch, job and sequences. A
 * claim that finds nothing: 1 read unit; every 30 s, in each process, also 2 write units, so that
 * users see that a worker waits, and operators which one.
 */
export async function claimBatch(db: ClaimDb, deviceType: string, worker: string): Promise<Claim | NoBatch> {
  const { clock } = db;
  const end = clock.now() + 1_000 * timeLimits.claimSearch;
  const search: Search = { deviceType, worker, end, failures: [], isAnyFree: false, isKnown: false };
  for await (const page of queuePages(db, deviceType)) {
    const pause = pauseAt(page.rules, clock.now());
    if (pause !== undefined) {
      if (page.isAnnounced) await noteIdle(db, deviceType, worker);
      return noBatchDuring(pause, clock.now());
    }
    const claim = await claimFromPage(db, search, page);
    if (claim !== undefined) return claim;
    if (clock.now() > end) break;
  }
  const { failures, isAnyFree, isKnown } = search;
  if (failures.length > 0) throw failures[0];
  // Idle workers ask every few seconds: their lines would be most of the log.
  if (!isAnyFree) addToRequestLog({ level: 'DEBUG' });
  if (!isAnyFree && isKnown) await noteIdle(db, deviceType, worker);
  return { retry_after: claimAgainSeconds };
}

function noBatchDuring({ until }: Pause, now: number): NoBatch {
  addToRequestLog({ level: 'DEBUG' });
  const seconds = until === null ? maxClaimAgainSeconds : Math.ceil((toMicroseconds(until) / 1_000 - now) / 1_000);
  return { retry_after: Math.min(maxClaimAgainSeconds, Math.max(claimAgainSeconds, seconds)) };
}

/** Undefined where no batch of this part of the queue begins. */
async function claimFromPage(db: ClaimDb, search: Search, page: QueuePage): Promise<Claim | NoBatch | undefined> {
  const { clock } = db;
  const free = page.items.filter(({ lease_until }) => lease_until <= clock.now());
  if (free.length > 0 && !page.isAnnounced && !search.isAnyFree) await announce(db, search.deviceType);
  search.isAnyFree ||= free.length > 0;
  search.isKnown ||= page.isAnnounced;
  for (let lostRaces = 0; free.length > 0 && clock.now() <= search.end; ) {
    // A worker that lost a race has company, all at the same batches: spread over the next ones.
    const at = Math.floor(Math.random() * Math.min(free.length, 1 + 2 * lostRaces));
    const [item] = free.splice(at, 1) as [QueueItem];
    const taken = await take(db, item, search.worker, page.settings);
    if (taken === undefined) lostRaces += 1;
    else {
      const [claim] = await Promise.all([tryToBegin(db, taken, search.failures), countClaim(db, item, page)]);
      if (claim !== undefined) return claim;
    }
  }
  return undefined;
}

/** An estimate that is worse for a while must not cost the worker its answer. */
async function noteIdle(db: Db<'DeviceQueue' | 'Counters'>, deviceType: string, worker: string): Promise<void> {
  const noted = notedBy(db);
  const name = JSON.stringify([deviceType, worker]);
  const now = db.clock.now();
  if (now - (noted.get(name) ?? 0) < noteMilliseconds) return;
  noted.set(name, now);
  if (noted.size > maxNoted) noted.delete(noted.keys().next().value as string);
  try {
    await Promise.all([noteWorker(db, deviceType, { worker }), noteIdleWorker(db, deviceType, worker)]);
  } catch (error) {
    addToRequestLog({ activity_error: describeError(error) });
  }
}

/** A device that cannot be announced, because there are too many, still gets its work. */
async function announce(db: Db<'Devices' | 'DeviceQueue'>, deviceType: string): Promise<void> {
  try {
    await announceByClaim(db, deviceType);
  } catch (error) {
    addToRequestLog({ announce_error: describeError(error) });
  }
}

/** Takes the lease; undefined when another worker was faster. */
async function take(
  db: Db<'DeviceQueue'>,
  item: QueueItem,
  worker: string,
  settings: DeviceSettings,
): Promise<QueueItem | undefined> {
  const taken = await takeLease(db, item, { worker, settings });
  if (taken === undefined) {
    countInRequestLog({ LostRaces: 1 });
  } else if (taken.losses + taken.unseen_losses > item.losses + item.unseen_losses) {
    addToRequestLog({ lost_worker: item.worker });
    countInRequestLog({ LeasesLost: 1 });
  }
  return taken;
}

/**
 * A batch that cannot begin, such as one with broken rows, must not block the batches behind it.
 * Its error is added to `failures`.
 */
async function tryToBegin(db: LifecycleDb, item: QueueItem, failures: unknown[]): Promise<Claim | NoBatch | undefined> {
  try {
    return await beginOrRelease(db, item);
  } catch (error) {
    failures.push(error);
    addToRequestLog({ failed_batch: batchIdOfKey(item.key), begin_error: describeError(error) });
    return undefined;
  }
}

/**
 * If this fails, the lease is given up: the worker does not know of it yet and would never use it.
 */
async function beginOrRelease(db: LifecycleDb, item: QueueItem): Promise<Claim | NoBatch | undefined> {
  try {
    return await begin(db, item);
  } catch (error) {
    // The batch left the queue meanwhile.
    if (error instanceof LeaseLost) return undefined;
    const lease = leaseOf(item);
    // Its rows may be what is broken: then the lease alone is given up.
    await giveUpLease(db, lease, item, { kind: 'released', until: 0 })
      .catch(() => freeLease(db, lease))
      .catch((failure) => addToRequestLog({ release_error: describeError(failure) }));
    throw error;
  }
}

async function begin(db: LifecycleDb, item: QueueItem): Promise<Claim | NoBatch | undefined> {
  const lease = leaseOf(item);
  const batchId = batchIdOfKey(item.key);
  addToRequestLog({ batch_id: batchId, fence: item.fence });
  const [progress, sequence_builder] = await Promise.all([
    advance(db, lease, { from: item.place, find: jobFinder(db, lease, item), isClaim: true }),
    getSequence(db, item.user_id, batchId),
  ]);
  switch (progress.kind) {
    case 'runs': {
      countInRequestLog({ Claims: 1 });
      const [job, [batch]] = await Promise.all([
        leasedJob(db, lease, progress.job),
        withConstants(db, [progress.batch]),
      ]);
      return {
        lease: leaseText(lease),
        expires_at: fromMilliseconds(item.lease_until),
        heartbeat_seconds: heartbeatSeconds,
        batch: { ...batchForDevice(batch!), sequence_builder },
        job,
      };
    }
    case 'waits': {
      // It has lost its device. Jobs that a call adds are found soon.
      const until = db.clock.now() + idleAgainMilliseconds;
      await giveUpLease(db, lease, item, { kind: 'released', until });
      return undefined;
    }
    case 'search':
      await freeLease(db, lease);
      return undefined;
    case 'ended':
      return undefined;
    case 'paused':
      return { retry_after: claimAgainSeconds };
  }
}

/**
 * Moves the device's clock. If this fails, the claim goes on: a clock that stops costs a little
 * fairness, never a batch.
 */
async function countClaim(
  db: Db<'DeviceQueue'>,
  { device_type, key, entered_at }: QueueItem,
  { clock, oldTimes }: QueuePage,
): Promise<void> {
  const tag = tagOfKey(key);
  const moves = clock === undefined || tag > clock;
  if (!moves && entered_at === undefined) return;
  try {
    await moveClock(db, device_type, { ...(moves && { tag }), entered_at, oldTimes });
  } catch (error) {
    addToRequestLog({ clock_error: describeError(error) });
  }
}

function batchForDevice(batch: BatchRow): Omit<LeasedBatch, 'sequence_builder'> {
  const { id, open, device_type, configuration, backend_configuration } = batch;
  return {
    id,
    open,
    device_type,
    configuration: parseStoredObject(configuration),
    backend_configuration,
  };
}
