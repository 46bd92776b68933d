/** The queue of each device: who is next, its clock, and what is known of its workers. */

import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { addToRequestLog, describeError } from '../../runtime/request-log.ts';
import { DeviceRules } from '../../schemas/device-rules.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import { assign } from '../dynamodb/assign.ts';
import { translateErrors } from '../dynamodb/aws-errors.ts';
import type { Db } from '../dynamodb/db.ts';
import { getItem, type Item, queryAll, queryFirst } from '../dynamodb/reads.ts';
import { calibrationsOf, type KnownCalibrations } from './calibrations-in-force.ts';
import { deviceRules, deviceRulesKey } from './device-rules.ts';
import {
  busyName,
  type DeviceTimes,
  deviceTimes,
  deviceTimesKey,
  isFullSample,
  type JobTime,
  namesOfJobTimes,
  workerNote,
} from './job-times.ts';
import {
  clockTag,
  type DeviceSettings,
  deviceClockKey,
  deviceSettings,
  FrontItem,
  isBatch,
  QueueItem,
} from './queue-item.ts';
import { averageTime, batchesPerMinute, countTime, namesOfOldTimes, namesOfTimes } from './queue-times.ts';
import { retryConflicts, updateItem } from './update-item.ts';

/** How many batches a claim looks at in one read: 2 read units. */
const maxBatchesInPage = 25;

/** Up to this number batches are counted. */
export const maxCountedBatches = 1_000;

/** Part of a queue, from its front on. */
export interface QueuePage {
  readonly items: readonly QueueItem[];
  /** The device’s clock; undefined where no device has taken a batch yet. */
  readonly clock: number | undefined;
  /** Attributes of the clock that count nothing any more. */
  readonly oldTimes: readonly string[];
  readonly rules: DeviceRules;
  /** What the operator sets, otherwise what the device has announced. */
  readonly settings: DeviceSettings;
  readonly isAnnounced: boolean;
}

/** The front of a device's queue, as users see it. */
export interface QueueFront {
  /** When it was read, in milliseconds since 1970. */
  readonly at: number;
  /** The first 1,001 batches at least, or all, in their order. */
  readonly batches: readonly FrontItem[];
  /** Whether a machine has announced itself as this device. */
  readonly isAnnounced: boolean;
  readonly rules: DeviceRules;
  readonly calibrations: KnownCalibrations;
  /** What the operator sets, otherwise what the device has announced. */
  readonly settings: DeviceSettings;
  /** See queue-times.ts. */
  readonly average_queue_time: number | null;
  readonly batchesPerMinute: number;
  /** The tag of the device's clock. */
  readonly tag: number;
  readonly times: DeviceTimes;
}

/**
 * The device's batches in their order, page by page, strongly consistent: 2 read units for 25,
 * 1 for an empty queue; 1 more for each 4 KB of windows.
 */
export async function* queuePages(db: Db<'DeviceQueue'>, deviceType: string): AsyncGenerator<QueuePage> {
  let start: Item | undefined;
  let clock: Item | undefined;
  let rules: DeviceRules | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await translateErrors(
      db.client.send(
        new QueryCommand({
          TableName: db.tables.DeviceQueue,
          // What sorts before the clock is not for claims.
          KeyConditionExpression: 'device_type = :type AND #key >= :clock',
          ExpressionAttributeNames: { '#key': 'key' },
          ExpressionAttributeValues: { ':type': deviceType, ':clock': deviceClockKey },
          ConsistentRead: true,
          // The first page holds the clock and the rules besides.
          Limit: maxBatchesInPage + (start === undefined ? 2 : 0),
          ...(start !== undefined && { ExclusiveStartKey: start }),
        }),
      ),
    );
    clock ??= Items.find(({ key }) => key === deviceClockKey);
    rules ??= deviceRules(Items.find(({ key }) => key === deviceRulesKey));
    const items = Items.filter(isBatch).map((item) => storedRow(QueueItem, item));
    const tag = clock?.tag === undefined ? undefined : clockTag(clock);
    const settings = { ...deviceSettings(clock), ...deviceSettings(rules) };
    const oldTimes = namesOfOldTimes(clock, db.clock.now());
    yield { items, clock: tag, oldTimes, rules, settings, isAnnounced: clock?.announced === true };
    start = LastEvaluatedKey;
  } while (start !== undefined);
}

/**
 * The item of what the operator has set for the device, and of its calibrations: for deviceRules
 * and calibrationsOf. Strongly consistent: 1 read unit for each 4 KB.
 */
export function getRulesItem(db: Db<'DeviceQueue'>, deviceType: string): Promise<Item | undefined> {
  const key = { device_type: deviceType, key: deviceRulesKey };
  return getItem(db, { table: 'DeviceQueue', key, consistent: true });
}

/**
 * Marks the device as announced, with what it sets; what it does not set stays. 1 write unit.
 */
export async function announceQueue(
  db: Db<'DeviceQueue'>,
  deviceType: string,
  settings: DeviceSettings,
): Promise<void> {
  const { assignments, values } = assign({ announced: true, ...settings });
  await updateItem(
    db,
    { device_type: deviceType, key: deviceClockKey },
    { UpdateExpression: `SET ${assignments}`, ExpressionAttributeValues: values },
  );
}

/**
 * Moves the device's clock forward to this tag, and counts how long the batch has waited, if it
 * was claimed for the first time. 1 write unit; 2 where others have moved the clock meanwhile.
 */
export async function moveClock(
  db: Db<'DeviceQueue'>,
  deviceType: string,
  { tag, entered_at, oldTimes }: { tag?: number; entered_at?: number | undefined; oldTimes: readonly string[] },
): Promise<void> {
  const clock = { device_type: deviceType, key: deviceClockKey };
  const counting = entered_at === undefined ? undefined : countTime({ entered_at, now: db.clock.now(), oldTimes });
  const { expression = '', values } = counting ?? {};
  const moved =
    tag !== undefined &&
    (await updateItem(db, clock, {
      UpdateExpression: `SET tag = :tag ${expression}`,
      ConditionExpression: 'attribute_not_exists(tag) OR tag < :tag',
      ExpressionAttributeValues: { ':tag': tag, ...values },
    }));
  const isCounted = moved && 'updated' in moved;
  if (counting === undefined || isCounted) return;
  await updateItem(db, clock, { UpdateExpression: expression, ExpressionAttributeValues: counting.values });
}

/** What a worker did: the job that it reported, and the microseconds that this adds to busyName. */
interface WorkerNote {
  readonly worker: string | undefined;
  readonly job?: JobTime | undefined;
  readonly busy?: number | undefined;
}

/**
 * Notes that a worker was heard of, and how long a job occupied it that it reported. Returns
 * whether the sample of times is full. 1 write unit.
 */
export async function noteWorker(
  db: Db<'DeviceQueue'>,
  deviceType: string,
  { worker, job, busy = 0 }: WorkerNote,
): Promise<boolean> {
  const { assignments, values } = assign(workerNote(worker, db.clock.now(), job));
  const noted = await updateItem(
    db,
    { device_type: deviceType, key: deviceTimesKey },
    {
      UpdateExpression: `SET ${assignments} ADD ${busyName} :busy`,
      ExpressionAttributeValues: { ...values, ':busy': busy },
      ReturnValues: 'ALL_NEW',
    },
  );
  return 'updated' in noted && isFullSample(noted.updated);
}

/**
 * Adds microseconds for which a device was busy. What they belong to is stored already, so a
 * failure is only logged. 1 write unit, none for 0.
 */
export async function countBusy(db: Db<'DeviceQueue'>, deviceType: string, microseconds: number): Promise<void> {
  if (microseconds === 0) return;
  try {
    await updateItem(
      db,
      { device_type: deviceType, key: deviceTimesKey },
      { UpdateExpression: `ADD ${busyName} :busy`, ExpressionAttributeValues: { ':busy': microseconds } },
    );
  } catch (error) {
    addToRequestLog({ busy_time_error: describeError(error) });
  }
}

/**
 * Writes the `rev` of changed rules to each leased batch. A start that was decided by the earlier
 * rules and is not committed yet then fails, and reads the rules anew (see isCurrent in
 * lifecycle/queue-writes.ts). 1 read unit for 16 batches, 1 write unit for each that is leased.
 */
export async function markLeases(db: Db<'DeviceQueue'>, deviceType: string, rev: number): Promise<void> {
  const read = { table: 'DeviceQueue', partition: { device_type: deviceType }, sortKey: 'key' } as const;
  const attributes = ['key', 'lease_until', 'put_back'];
  const items = await queryAll(db, { ...read, range: 'all', consistent: true, attributes });
  const leased = items.filter(({ lease_until, put_back }) => lease_until > 0 && put_back !== true);
  while (leased.length > 0) {
    const marked = leased.splice(0, 10).map(({ key }) =>
      // A transaction at the item passes soon.
      retryConflicts(db, () =>
        updateItem(
          db,
          { device_type: deviceType, key },
          {
            UpdateExpression: 'SET rules_rev = :rev REMOVE rules_until',
            ConditionExpression: 'attribute_exists(fence) AND (attribute_not_exists(rules_rev) OR rules_rev < :rev)',
            ExpressionAttributeValues: { ':rev': rev },
          },
        ),
      ),
    );
    await Promise.all(marked);
  }
}

/**
 * The front of a device's queue. Eventually consistent: half a read unit for about 16 batches.
 */
export async function readFront(db: Db<'DeviceQueue'>, deviceType: string): Promise<QueueFront> {
  const read = { table: 'DeviceQueue', partition: { device_type: deviceType }, sortKey: 'key' } as const;
  const at = db.clock.now();
  const shapes = { ...DeviceRules.shape, ...FrontItem.shape, announced: true, tag: true, calibrations: true };
  const attributes = [...Object.keys(shapes), ...namesOfTimes(at), ...namesOfJobTimes];
  // The first items are no batches: what is known of its workers, the clock and the rules.
  const items = await queryFirst(db, { ...read, range: 'all', consistent: false, attributes }, maxCountedBatches + 4);
  const clock = items.find(({ key }) => key === deviceClockKey);
  const rulesItem = items.find(({ key }) => key === deviceRulesKey);
  const rules = deviceRules(rulesItem);
  return {
    at,
    batches: items.filter(isBatch).map((item) => storedRow(FrontItem, item)),
    isAnnounced: clock?.announced === true,
    rules,
    calibrations: calibrationsOf(rulesItem),
    settings: { ...deviceSettings(clock), ...deviceSettings(rules) },
    average_queue_time: averageTime(clock, at),
    batchesPerMinute: batchesPerMinute(clock, at),
    tag: clockTag(clock),
    times: deviceTimes(items.find(({ key }) => key === deviceTimesKey)),
  };
}
