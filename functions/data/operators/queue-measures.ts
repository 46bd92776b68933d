import type { DeviceRules } from '../../schemas/device-rules.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import { toMicroseconds } from '../../values/timestamp.ts';
import type { Db } from '../dynamodb/db.ts';
import { queryFirstPage } from '../dynamodb/reads.ts';
import { deviceRules, deviceRulesKey, pauseAt } from '../queue/device-rules.ts';
import { placeOfKey } from '../queue/fair-order.ts';
import { busyName, deviceTimesKey } from '../queue/job-times.ts';
import { deviceClockKey, deviceMicroseconds, isBatch, lastHeartbeat, QueueItem } from '../queue/queue-item.ts';
import { type StartedBatches, startedInMinute } from '../queue/queue-times.ts';

/** What an operator watches of a device's queue. */
export interface QueueMeasure {
  /** When it was measured, in milliseconds since 1970. */
  readonly at: number;
  /** Whether the device was announced, set, or has batches. */
  readonly isKnown: boolean;
  readonly rules: DeviceRules;
  /** Batches in the queue, those at a device included: up to about 4,000, which one read holds. */
  readonly length: number;
  /** Age of the oldest batch that waits, in seconds since it was created; 0 when none waits. */
  readonly oldestSeconds: number;
  /** Whether batches wait while no worker has any, and no operator keeps the device from them. */
  readonly unclaimed: boolean;
  /** Batches whose lease has run out, while users see that a worker has them. */
  readonly lapsed: readonly QueueItem[];
  /** Batches that workers have. */
  readonly atWork: readonly QueueItem[];
  /** Batches that got their first worker in the last minute that is over. */
  readonly started: StartedBatches;
  /**
   * How long devices of this type have worked on jobs in all, in microseconds. On a job that runs,
   * until the last heartbeat, and not beyond the time that it may take: so a worker that turns out
   * to be lost takes nothing back. It falls for a moment where a job has ended and is not counted
   * yet.
   */
  readonly busy: number;
  /**
   * The part of it that is counted: without the jobs that run, and without up to three ended ones
   * of each batch at work. Only a correction lowers it.
   */
  readonly counted: number;
}

/**
 * Measures the queue of a device type. A worker between two batches holds none for a moment: only
 * several measurements in a row show that no worker is there. Half a read unit for about 16
 * batches, up to 128.
 */
export async function measureQueue(db: Db<'DeviceQueue'>, deviceType: string): Promise<QueueMeasure> {
  const { items } = await queryFirstPage(db, {
    table: 'DeviceQueue',
    partition: { device_type: deviceType },
    sortKey: 'key',
    range: 'all',
    consistent: false,
  });
  const now = db.clock.now();
  const itemAt = (place: string) => items.find(({ key }) => key === place);
  const rules = deviceRules(itemAt(deviceRulesKey));
  const clock = itemAt(deviceClockKey);
  const batches = items.filter(isBatch).map((item) => storedRow(QueueItem, item));
  const waiting = batches.filter(({ lease_until }) => lease_until <= now);
  const counted = Number(itemAt(deviceTimesKey)?.[busyName] ?? 0);
  const created = waiting.map(({ key }) => toMicroseconds(placeOfKey(key).created_at) / 1_000);
  const oldest = created.reduce((earliest, time) => Math.min(earliest, time), now);
  return {
    at: now,
    isKnown: batches.length > 0 || clock?.announced === true || rules.rev > 0,
    rules,
    length: batches.length,
    oldestSeconds: Math.round((now - oldest) / 1_000),
    unclaimed: waiting.length > 0 && waiting.length === batches.length && pauseAt(rules, now) === undefined,
    lapsed: waiting.filter(({ lease_until, put_back }) => lease_until > 0 && put_back !== true),
    atWork: batches.filter(({ lease_until, put_back }) => lease_until > now && put_back !== true),
    started: startedInMinute(clock, now - 60_000),
    busy: batches.reduce((sum, item) => sum + busyWith(item), counted),
    counted,
  };
}

function busyWith(item: QueueItem): number {
  const { uncounted_us = 0 } = item;
  return (
    uncounted_us +
    deviceMicroseconds({}, item, Math.min(lastHeartbeat(item), item.job_until ?? Number.MAX_SAFE_INTEGER))
  );
}

/**
 * A worker was there if it was busy, or asked for work within this time: it is noted every 30 s.
 */
const presentMilliseconds = 90_000;

/** The number of workers that are there: two of one name count once. */
export function workersPresent({ at, atWork }: QueueMeasure, idle: ReadonlyMap<string, number>): number {
  const asking = [...idle].filter(([, seen]) => seen > at - presentMilliseconds).map(([worker]) => worker);
  return new Set([...atWork.map(({ worker, key }) => worker ?? key), ...asking]).size;
}
