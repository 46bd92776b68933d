/**
 * What a transaction changes in the devices' queues: the one place that derives it, from each batch
 * before and after. So a batch is in the queue of its device exactly while a worker may take it,
 * whatever changed it.
 */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { DeviceClosed } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { QueuePriority } from '../../schemas/values.ts';
import { countRunnable, isStopping } from '../../statuses.ts';
import { requireTable, type TableNames } from '../../tables.ts';
import { assign } from '../dynamodb/assign.ts';
import { batchGet, type Item, queryAll } from '../dynamodb/reads.ts';
import { storedRow } from '../dynamodb/stored-row.ts';
import type { Write } from '../dynamodb/write-units.ts';
import { deviceRules, deviceRulesKey, whyClosed } from '../queue/device-rules.ts';
import {
  batchIdOfKey,
  placeOfKey,
  placeWork,
  queueKey,
  type TimeRange,
  tagSteps,
  type UserClock,
  withCharge,
  withdrawWork,
  workEnd,
} from '../queue/fair-order.ts';
import { clockTag, deviceClockKey, newQueueItem, type QueueItem, StoredUserClock } from '../queue/queue-item.ts';
import { type Draft, type LeaseUpdate, type Owner, ofLeasedJob, visibleBatch } from './draft.ts';
import { firstPendingPosition } from './pending-calls.ts';

/** How often a batch may be claimed between two changes of its row: far more than it can be. */
const maxClaimsOfEntry = 2 ** 20;

/**
 * Whether a worker may take the batch, or has it: its jobs were sent with sequences, it has jobs to
 * run, and nothing is about to end it. An open batch that has begun stays with its device, which
 * waits for further jobs. A batch outside the queue stays out while a call is still adding its
 * jobs.
 */
export function isClaimable(batch: BatchRow): boolean {
  const { queue_key, creating, canceling, status, open, jobs_count_per_status } = batch;
  if (queue_key === undefined || creating === true || canceling === true) return false;
  if (isStopping(status)) return false;
  if (queue_key === null && firstPendingPosition(batch) < Number.POSITIVE_INFINITY) return false;
  return countRunnable(jobs_count_per_status) > 0 || (open && status !== 'PENDING');
}

/** The owner's clocks by device type, where there are any, each with the device's. */
export type StoredClocks = ReadonlyMap<string, { readonly device: number; readonly user: UserClock | undefined }>;

/**
 * The owner's clock for a device, in the Columns table: only this owner's creations and
 * cancellations are at it.
 */
export function userClockKey(deviceType: string): string {
  return `work#${deviceType}`;
}

/**
 * The owner's clock for a device, as it is stored. 1 read unit.
 */
export async function getUserClock(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Columns'>,
  { user_id, device_type }: Pick<BatchRow, 'user_id' | 'device_type'>,
): Promise<UserClock> {
  const keys = [{ user_id, key: userClockKey(device_type) }];
  const [found] = await batchGet(client, { table: tables.Columns, keys, consistent: true });
  return found === undefined ? {} : storedRow(StoredUserClock, found).clocks;
}

/**
 * What the draft does with the batch's place: it enters the queue, leaves it, gets further jobs in
 * it, goes behind the others, or enters anew.
 */
function moveOf(
  { stored, lease }: Draft,
  row: BatchRow,
): 'enters' | 'leaves' | 'grows' | 'goes behind' | 'enters anew' | undefined {
  const isInQueue = typeof row.queue_key === 'string';
  if (isInQueue !== isClaimable(row)) return isInQueue ? 'leaves' : 'enters';
  if (lease?.item.key === row.queue_key) {
    if (lease?.goesBehind) return 'goes behind';
    if (lease?.entersAnew) return 'enters anew';
  }
  return isInQueue && addedJobs(stored, row) > 0 ? 'grows' : undefined;
}

function addedJobs({ batches }: Draft['stored'], { id, jobs_count }: BatchRow): number {
  return jobs_count - (batches.get(id)?.jobs_count ?? 0);
}

/** Whether a user's call creates the batch: a batch of an event is in no queue. */
function isNew({ stored }: Draft, { id, queue_key }: BatchRow): boolean {
  return queue_key !== undefined && !stored.batches.has(id);
}

/**
 * The devices of those batches of the draft that enter a queue or grow there, and of those that
 * leave one before a device took them: whether the owner's clock for a device also needs the
 * device's own.
 */
export function chargedDevices(draft: Draft): ReadonlyMap<string, boolean> {
  const charged = new Map<string, boolean>();
  for (const row of draft.batches.values()) {
    const { device_type } = row;
    const move = moveOf(draft, row);
    if (move === undefined || (move === 'leaves' && row.queue_charges === undefined)) continue;
    charged.set(device_type, charged.get(device_type) || move !== 'leaves');
  }
  return charged;
}

/**
 * The tags of the devices' clocks that the draft's batches need. One that lags costs a little
 * fairness. Throws DeviceClosed where a new batch is for a device that an operator has closed; its
 * rules may lag as well. Half a read unit for each device where a batch is new, enters or grows.
 */
export async function readDeviceClocks(
  client: DynamoDBDocumentClient,
  tables: Partial<TableNames<'DeviceQueue'>>,
  { draft, charged }: { readonly draft: Draft; readonly charged: ReadonlyMap<string, boolean> },
): Promise<ReadonlyMap<string, number>> {
  const news = [...draft.batches.values()].filter((row) => isNew(draft, row));
  const accepting = new Set(news.map(({ device_type }) => device_type));
  const types = accepting.union(new Set([...charged].flatMap(([type, isCharged]) => (isCharged ? type : []))));
  return new Map(await Promise.all(Array.from(types, async (type) => [type, await readDevice(type)] as const)));

  /** The tag of the device's clock. */
  async function readDevice(device_type: string): Promise<number> {
    const items = await queryAll(client, {
      table: requireTable(tables, 'DeviceQueue'),
      partition: { device_type },
      sortKey: 'key',
      range: { between: [deviceClockKey, deviceRulesKey] },
      consistent: false,
    });
    const rules = deviceRules(items.find(({ key }) => key === deviceRulesKey));
    const why = whyClosed(device_type, rules);
    if (why !== undefined && accepting.has(device_type)) throw new DeviceClosed(why);
    return clockTag(items.find(({ key }) => key === deviceClockKey));
  }
}

/**
 * The clocks for these devices (chargedDevices), of what was read: the owner's items in the Columns
 * table, and the devices' tags.
 */
export function storedClocks(
  charged: ReadonlyMap<string, boolean>,
  columns: ReadonlyMap<string, Item>,
  devices: ReadonlyMap<string, number>,
): StoredClocks {
  return new Map(
    Array.from(charged, ([type, isCharged]) => {
      const user = columns.get(userClockKey(type));
      const device = isCharged ? devices.get(type)! : 0;
      return [type, { device, user: user && storedRow(StoredUserClock, user).clocks }];
    }),
  );
}

export interface QueueChanges {
  /** The draft's batches; those that enter or leave a queue say so. */
  readonly batches: readonly BatchRow[];
  readonly writes: readonly Write[];
}

/**
 * What the draft changes in queues; where it is made under a lease, on condition that this is still
 * the current one.
 */
export function queueChanges(
  { userId }: Owner,
  {
    draft,
    clocks,
    tables,
    now,
  }: {
    readonly draft: Draft;
    readonly clocks: StoredClocks;
    readonly tables: TableNames<'Columns'> & Partial<TableNames<'DeviceQueue'>>;
    /** Milliseconds since 1970. */
    readonly now: number;
  },
): QueueChanges {
  const { lease } = draft;
  const userClocks = new Map<string, UserClock>();
  const clocksOf = ({ device_type }: BatchRow) => {
    const stored = clocks.get(device_type);
    if (stored === undefined) throw new RangeError(`The clock of ${device_type} was not read.`);
    return { device: stored.device, user: userClocks.get(device_type) ?? stored.user ?? {} };
  };
  const writes: Write[] = [];
  let leavesByLease = false;
  const batches = Array.from(draft.batches.values(), (row): BatchRow => {
    const move = moveOf(draft, row);
    if (move === undefined) return row;
    const { queue_key, queue_charges, queued_at = now, ...rest } = row;
    const { device_type, queue_priority: priority } = row;
    const TableName = requireTable(tables, 'DeviceQueue');
    const isLeased = lease !== undefined && lease.item.key === queue_key;
    const remove = () => {
      leavesByLease ||= isLeased;
      const Delete = { TableName, Key: { device_type, key: queue_key } };
      writes.push({ Delete: isLeased ? { ...Delete, ...isCurrent(lease) } : Delete });
    };
    if (move === 'leaves' || move === 'enters anew') {
      remove();
      const { queue_priority: charged } = draft.stored.batches.get(row.id) ?? row;
      if (queue_charges) userClocks.set(device_type, giveBack(clocksOf(row).user, queue_charges, charged));
      if (move === 'leaves') return { ...rest, queue_key: null };
    }
    const put = (tag: number, part?: Partial<QueueItem>) => {
      const item = { ...newItem(row, tag), ...jobShots(draft, row), ...part };
      writes.push({ Put: { TableName, Item: item, ...isAbsent } });
      return item.key;
    };
    // A batch that has a key gets a later one.
    const isLater = typeof queue_key === 'string' && move !== 'enters anew';
    const notBefore = isLater ? placeOfKey(queue_key).tag + tagSteps[priority] : 0;
    if (move === 'goes behind' && lease !== undefined) {
      remove();
      const { device, user } = clocksOf(row);
      const { fence = 0, place, losses, unseen_losses, item } = lease;
      const { job_shots } = item;
      // Its jobs are charged already.
      const tag = Math.max(device, notBefore, workEnd(user, priority));
      const shots = job_shots === undefined ? {} : { job_shots };
      return { ...row, queue_key: put(tag, { fence, place, losses, unseen_losses, ...shots }) };
    }
    const jobs = move === 'grows' ? addedJobs(draft.stored, row) : countRunnable(row.jobs_count_per_status);
    const { tag, charge, user } = placeWork(clocksOf(row), { priority, jobs: Math.max(1, jobs), notBefore });
    userClocks.set(device_type, user);
    // What a device has, or had once, keeps its place.
    if (move === 'grows' && queue_charges === undefined) return row;
    if (move === 'grows') remove();
    if (move === 'enters anew' && lease !== undefined) {
      const { key, fence, jobs_left, ...kept } = lease.item;
      return { ...row, queue_key: put(tag, kept), queue_charges: [charge] };
    }
    const key = put(tag, { entered_at: queued_at });
    return { ...row, queue_key: key, queue_charges: withCharge(queue_charges ?? [], charge), queued_at };
  });
  for (const [deviceType, after] of userClocks) {
    const Key = { user_id: userId, key: userClockKey(deviceType) };
    writes.push(...writeUserClock(tables.Columns, Key, { before: clocks.get(deviceType)?.user, after }));
  }
  if (lease !== undefined && !leavesByLease) {
    const leased = visibleBatch(draft, batchIdOfKey(lease.item.key));
    writes.push(updateLease(requireTable(tables, 'DeviceQueue'), lease, leased));
  }
  return { batches, writes };
}

/** The clock without the charges of a batch that no device took. */
function giveBack(user: UserClock, charges: readonly TimeRange[], priority: QueuePriority): UserClock {
  return charges.reduceRight((clock, charge) => withdrawWork(clock, priority, charge), user);
}

const isAbsent = { ConditionExpression: 'attribute_not_exists(#key)', ExpressionAttributeNames: { '#key': 'key' } };

/** The item of a batch at this place, which nobody has. */
function newItem(batch: BatchRow, tag: number): QueueItem {
  const { id, user_id, device_type, queue_priority, created_at, rev } = batch;
  const key = queueKey({ tag, priority: queue_priority, created_at, batchId: id });
  // A batch may come back to a key that it had. Its leases must not.
  return { ...newQueueItem({ device_type, key, user_id, ...jobsLeft(batch) }), fence: rev * maxClaimsOfEntry };
}

function writeUserClock(
  TableName: string,
  Key: { readonly user_id: string; readonly key: string },
  { before, after }: { readonly before: UserClock | undefined; readonly after: UserClock },
): Write[] {
  if (after === before) return [];
  const condition =
    before === undefined
      ? isAbsent
      : { ConditionExpression: 'clocks = :before', ExpressionAttributeValues: { ':before': before } };
  return [{ Put: { TableName, Item: { ...Key, clocks: after }, ...condition } }];
}

/**
 * What the batch still has to run. Its row always says so, the item as of its own last write.
 */
function jobsLeft({ jobs_count_per_status }: BatchRow): Pick<QueueItem, 'jobs_left'> {
  return { jobs_left: countRunnable(jobs_count_per_status) };
}

/** How often jobs of the batch are run, by those that the transaction adds. */
function jobShots({ jobs }: Draft, { id }: BatchRow): Pick<QueueItem, 'job_shots'> {
  const runs = [...jobs.values()].filter(({ batch_id }) => batch_id === id).map((job) => job.runs);
  const sum = runs.reduce<number>((total, each) => total + (each ?? 0), 0);
  return runs.length === 0 || runs.includes(null) ? {} : { job_shots: Math.round(sum / runs.length) };
}

function updateLease(TableName: string, update: LeaseUpdate, batch: BatchRow | undefined): Write {
  const { item, goesBehind, entersAnew, paused, ...lease } = update;
  const { ConditionExpression, ExpressionAttributeValues } = isCurrent(update);
  const { assignments, values } = assign({ ...lease, ...(batch && jobsLeft(batch)) });
  const removed = (['idle_since', 'rules_until', ...ofLeasedJob] as const).filter((name) => lease[name] === undefined);
  return {
    Update: {
      TableName,
      Key: { device_type: item.device_type, key: item.key },
      UpdateExpression: `SET ${assignments}${removed.length > 0 ? ` REMOVE ${removed.join()}` : ''}`,
      ConditionExpression,
      ExpressionAttributeValues: { ...ExpressionAttributeValues, ...values },
    },
  };
}

/**
 * The lease is as it was read. One that ran out is taken away only while no heartbeat has come.
 *
 * By `rules_rev` nothing is handed out after the answer to an operator that pauses the device
 * (device-settings.ts): that call writes the rules, then their `rev` to each leased item, then it
 * answers. Who starts a job has read the item and the rules. If the item had the new `rev`, the
 * rules were read again, and are the new ones. If it had not, the start fails unless it is
 * committed before the `rev` is written, so before the answer.
 */
function isCurrent({ item, put_back }: LeaseUpdate) {
  const { fence, rules_rev, lease_until } = item;
  const conditions = [
    'fence = :current',
    rules_rev === undefined ? 'attribute_not_exists(rules_rev)' : 'rules_rev = :rules',
  ];
  return {
    ConditionExpression: [...conditions, ...(put_back === true ? ['lease_until = :read'] : [])].join(' AND '),
    ExpressionAttributeValues: {
      ':current': fence,
      ...(rules_rev !== undefined && { ':rules': rules_rev }),
      ...(put_back === true && { ':read': lease_until }),
    },
  };
}
