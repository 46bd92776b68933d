/** How a worker gets a batch of its device: under a lease, with the first job to run. */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { LeaseLost } from '../../errors.ts';
import { addToRequestLog, countInRequestLog, describeError } from '../../runtime/request-log.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import { type Claim, type LeasedBatch, leaseText } from '../../schemas/lease.ts';
import type { TableNames } from '../../tables.ts';
import { parseStoredObject } from '../../values/json-text.ts';
import { fromMilliseconds, toMicroseconds } from '../../values/timestamp.ts';
import { type Pause, pauseAt } from '../queue/device-rules.ts';
import { batchIdOfKey, tagOfKey } from '../queue/fair-order.ts';
import { type QueueOptions, type QueuePage, workQueue } from '../queue/queue.ts';
import { type DeviceSettings, leaseOf, type QueueItem } from '../queue/queue-item.ts';
import { announceByClaim } from '../rows/devices.ts';
import { idleAgainMilliseconds, jobRunner } from './job-runner.ts';

/** How often a worker sends a heartbeat: two may be lost. */
const heartbeatSeconds = 20;

/** Seconds after which a worker that got no batch asks again, and at most during a pause. */
const claimAgainSeconds = 3;
const maxClaimAgainSeconds = 60;

/** There is no batch for the worker. */
export interface NoBatch {
  /** Seconds after which to ask again. */
  readonly retry_after: number;
}

/** An idle worker is noted again after so long: what was seen within a minute counts. */
const noteMilliseconds = 30_000;
const maxNoted = 1_000;

/** A claim stops looking for work after this time: it must answer before its function ends. */
const maxSearchMilliseconds = 8_000;

/**
 * The function that claims the first batch of a device that nobody holds, with its first unfinished
 * job; both are RUNNING then. NoBatch when there is none, or while an operator lets the device take
 * none: once that call has its answer, no batch is handed out. Skips leased batches; takes over
 * batches whose lease ran out. A job becomes ERROR after three lost workers, or ten claims without
 * a call. An open batch becomes TIMED_OUT after two idle minutes. A repeated claim gets another
 * batch: two workers of one name must not have the same. Also skips a batch that cannot begin; its
 * error is thrown only if no other batch begins.
 *
 * The first claim that finds work for a device which nobody announced announces it, before it takes
 * any: so the queue of each device where workers have batches is measured.
 *
 * Costs, beside the lifecycle's writes: 2 read units for each 25 batches of the queue, 3 write
 * units, another one when the device's clock moves, and the reads of batch, job and sequences. A
 * claim that finds nothing: 1 read unit; every 30 s, in each process, also 1 write unit, so that
 * users see that a worker waits.
 */
export function claimBatch(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns' | 'DeviceQueue' | 'Devices' | 'Sequences'>,
  options: QueueOptions = {},
): (deviceType: string, worker: string) => Promise<Claim | NoBatch> {
  const { now = Date.now } = options;
  const queue = workQueue(client, tables, options);
  const announceDevice = announceByClaim(client, tables, options);
  const { advance, release, sequenceOf, leasedJob } = jobRunner(client, tables, options);
  const noted = new Map<string, number>();
  return async (deviceType, worker) => {
    const end = now() + maxSearchMilliseconds;
    const failures: unknown[] = [];
    let [isAnyFree, isKnown] = [false, false];
    for await (const page of queue.pages(deviceType)) {
      const { items, rules, settings, isAnnounced } = page;
      const pause = pauseAt(rules, now());
      if (pause !== undefined) return noBatchDuring(pause);
      const free = items.filter(({ lease_until }) => lease_until <= now());
      if (free.length > 0 && !isAnnounced && !isAnyFree) await announce(deviceType);
      isAnyFree ||= free.length > 0;
      isKnown ||= isAnnounced;
      for (let lostRaces = 0; free.length > 0 && now() <= end; ) {
        // A worker that lost a race has company, all at the same batches: spread over the next
        // ones.
        const at = Math.floor(Math.random() * Math.min(free.length, 1 + 2 * lostRaces));
        const [item] = free.splice(at, 1) as [QueueItem];
        const taken = await take(item, worker, settings);
        if (taken === undefined) lostRaces += 1;
        else {
          const [claim] = await Promise.all([tryToBegin(taken, failures), moveClock(deviceType, item, page)]);
          if (claim === 'paused') return { retry_after: claimAgainSeconds };
          if (claim !== undefined) return claim;
        }
      }
      if (now() > end) break;
    }
    if (failures.length > 0) throw failures[0];
    // Idle workers ask every few seconds: their lines would be most of the log.
    if (!isAnyFree) addToRequestLog({ level: 'DEBUG' });
    if (!isAnyFree && isKnown) await noteIdle(deviceType, worker);
    return { retry_after: claimAgainSeconds };
  };

  /** An estimate that is worse for a while must not cost the worker its answer. */
  async function noteIdle(deviceType: string, worker: string): Promise<void> {
    const name = JSON.stringify([deviceType, worker]);
    if (now() - (noted.get(name) ?? 0) < noteMilliseconds) return;
    noted.set(name, now());
    if (noted.size > maxNoted) noted.delete(noted.keys().next().value as string);
    try {
      await queue.noteWorker(deviceType, worker);
    } catch (error) {
      addToRequestLog({ activity_error: describeError(error) });
    }
  }

  function noBatchDuring({ until }: Pause): NoBatch {
    addToRequestLog({ level: 'DEBUG' });
    const seconds = until === null ? maxClaimAgainSeconds : Math.ceil((toMicroseconds(until) / 1_000 - now()) / 1_000);
    return { retry_after: Math.min(maxClaimAgainSeconds, Math.max(claimAgainSeconds, seconds)) };
  }

  /** A device that cannot be announced, because there are too many, gets its work all the same. */
  async function announce(deviceType: string): Promise<void> {
    try {
      await announceDevice(deviceType);
    } catch (error) {
      addToRequestLog({ announce_error: describeError(error) });
    }
  }

  /** Takes the lease; undefined when another worker was faster. */
  async function take(item: QueueItem, worker: string, settings: DeviceSettings): Promise<QueueItem | undefined> {
    const taken = await queue.take(item, worker, settings);
    if (taken === undefined) {
      countInRequestLog({ LostRaces: 1 });
    } else if (taken.losses + taken.unseen_losses > item.losses + item.unseen_losses) {
      addToRequestLog({ lost_worker: item.worker });
      countInRequestLog({ LeasesLost: 1 });
    }
    return taken;
  }

  /**
   * A batch that cannot begin, such as one whose rows are broken, must not keep the device from
   * those behind it. Its error is added to `failures`.
   */
  async function tryToBegin(item: QueueItem, failures: unknown[]): Promise<Claim | 'paused' | undefined> {
    try {
      return await beginOrRelease(item);
    } catch (error) {
      failures.push(error);
      addToRequestLog({ failed_batch: batchIdOfKey(item.key), begin_error: describeError(error) });
      return undefined;
    }
  }

  /** What fails here failed before the worker knew of the lease: nobody would use it. */
  async function beginOrRelease(item: QueueItem): Promise<Claim | 'paused' | undefined> {
    try {
      return await begin(item);
    } catch (error) {
      // The batch left the queue meanwhile.
      if (error instanceof LeaseLost) return undefined;
      const lease = leaseOf(item);
      // Its rows may be what is broken: then the lease alone is given up.
      await release(lease, item.place, { kind: 'released', until: 0 })
        .catch(() => queue.release(lease))
        .catch((failure) => addToRequestLog({ release_error: describeError(failure) }));
      throw error;
    }
  }

  async function begin(item: QueueItem): Promise<Claim | 'paused' | undefined> {
    const lease = leaseOf(item);
    const batchId = batchIdOfKey(item.key);
    addToRequestLog({ batch_id: batchId, fence: item.fence });
    const [progress, sequence_builder] = await Promise.all([
      advance(lease, item.place, true),
      sequenceOf(item.user_id, batchId),
    ]);
    switch (progress.kind) {
      case 'runs':
        countInRequestLog({ Claims: 1 });
        return {
          lease: leaseText(lease),
          expires_at: fromMilliseconds(item.lease_until),
          heartbeat_seconds: heartbeatSeconds,
          batch: { ...batchForDevice(progress.batch), sequence_builder },
          job: await leasedJob(lease, progress.job),
        };
      case 'waits':
        // It has lost its device. Jobs that a call adds are found soon.
        await release(lease, item.place, { kind: 'released', until: now() + idleAgainMilliseconds });
        return undefined;
      case 'looks':
        await queue.release(lease);
        return undefined;
      case 'ended':
        return undefined;
      case 'paused':
        return 'paused';
    }
  }

  /**
   * A clock that stops costs a little fairness, never a batch: the claim is not given up for
   * it.
   */
  async function moveClock(
    deviceType: string,
    { key, entered_at }: QueueItem,
    { clock, oldTimes }: Pick<QueuePage, 'clock' | 'oldTimes'>,
  ): Promise<void> {
    const tag = tagOfKey(key);
    const moves = clock === undefined || tag > clock;
    if (!moves && entered_at === undefined) return;
    try {
      await queue.moveClock(deviceType, { ...(moves && { tag }), entered_at, oldTimes });
    } catch (error) {
      addToRequestLog({ clock_error: describeError(error) });
    }
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
