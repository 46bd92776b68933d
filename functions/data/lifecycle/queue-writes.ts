/**
 * What a transaction changes in the devices' queues: the one place that derives it, from each batch
 * before and after. So a batch is in the queue of its device exactly while a worker may take it,
 * whatever changed it.
 */

import { DeviceClosed } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import type { QueuePriority } from '../../schemas/values.ts';
import { countRunnable, isStopping } from '../../statuses.ts';
import { assign } from '../dynamodb/assign.ts';
import { ifAbsent, ifUnchanged } from '../dynamodb/conditions.ts';
import type { Db } from '../dynamodb/db.ts';
import { batchGet, type Item, queryAll } from '../dynamodb/reads.ts';
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
import { type Draft, type LeaseUpdate, ofLeasedJob, visibleBatch } from './draft.ts';
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
 * The owner's clock for a device is in the Columns table: only this owner's creations and
 * cancellations change it.
 */
export function userClockKey(deviceType: string): string {
  return `clock#${deviceType}`;
}

/** The owner's clock for a device, as it is stored. 1 read unit. */
export async function getUserClock(
  db: Db<'Columns'>,
  { user_id, device_type }: Pick<BatchRow, 'user_id' | 'device_type'>,
): Promise<UserClock> {
  const keys = [{ user_id, key: userClockKey(device_type) }];
  const [found] = await batchGet(db, { table: 'Columns', keys, consistent: true });
  return found === undefined ? {} : storedRow(StoredUserClock(), found).clocks;
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

/** Whether a user's call creates the batch. Batches of events are in no queue. */
function isNew({ stored }: Draft, { id, queue_key }: BatchRow): boolean {
  return queue_key !== undefined && !stored.batches.has(id);
}

/**
 * The devices for which the draft needs the owner's clock: a batch enters their queue, moves in it,
 * or leaves it before a device took it. True if it also needs the device's own clock, which a batch
 * that leaves does not.
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
 * The tags of the devices' clocks that the draft's batches need. A tag that lags costs a little
 * fairness. Throws DeviceClosed when a new batch is for a device that an operator has closed; the
 * device's rules may lag as well. Half a read unit for each device with a batch that is new, enters
 * or grows.
 */
export async function readDeviceClocks(
  db: Db<'DeviceQueue'>,
  { draft, charged }: { readonly draft: Draft; readonly charged: ReadonlyMap<string, boolean> },
): Promise<ReadonlyMap<string, number>> {
  const news = [...draft.batches.values()].filter((row) => isNew(draft, row));
  const accepting = new Set(news.map(({ device_type }) => device_type));
  const types = accepting.union(new Set([...charged].flatMap(([type, isCharged]) => (isCharged ? type : []))));
  const tags = Array.from(types, async (type) => [type, await readTag(db, type, accepting.has(type))] as const);
  return new Map(await Promise.all(tags));
}

/**
 * The tag of the device's clock. Throws DeviceClosed when the device must accept a batch and is
 * closed.
 */
async function readTag(db: Db<'DeviceQueue'>, device_type: string, isToAccept: boolean): Promise<number> {
  const items = await queryAll(db, {
    table: 'DeviceQueue',
    partition: { device_type },
    sortKey: 'key',
    range: { between: [deviceClockKey, deviceRulesKey] },
    consistent: false,
  });
  const rules = deviceRules(items.find(({ key }) => key === deviceRulesKey));
  const why = whyClosed(device_type, rules);
  if (why !== undefined && isToAccept) throw new DeviceClosed(why);
  return clockTag(items.find(({ key }) => key === deviceClockKey));
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
      return [type, { device, user: user && storedRow(StoredUserClock(), user).clocks }];
    }),
  );
}

interface QueueChanges {
  /** The draft's batches, with their new `queue_key` when they enter or leave a queue. */
  readonly batches: readonly BatchRow[];
  readonly writes: readonly Write[];
}

/** What queue changes are derived from. */
interface QueueContent {
  readonly draft: Draft;
  readonly clocks: StoredClocks;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The changes of a draft's queues, as far as they are derived. */
interface Moves extends QueueContent {
  readonly TableName: string;
  /** The owner's clocks that differ from the stored ones, by device type. */
  readonly userClocks: Map<string, UserClock>;
  readonly writes: Write[];
  /** The batch that is leased leaves its place: the condition on the lease goes with that. */
  leavesByLease: boolean;
}

/**
 * What the draft changes in queues. A draft made under a lease is conditional on the lease being
 * current.
 */
export function queueChanges(
  { tables }: Db<'Columns' | 'DeviceQueue'>,
  userId: string,
  { draft, clocks, now }: QueueContent,
): QueueChanges {
  const { lease } = draft;
  const TableName = tables.DeviceQueue;
  const moves: Moves = { draft, clocks, now, TableName, userClocks: new Map(), writes: [], leavesByLease: false };
  const batches = Array.from(draft.batches.values(), (row) => moveBatch(moves, row));
  const { writes } = moves;
  for (const [deviceType, after] of moves.userClocks) {
    const Key = { user_id: userId, key: userClockKey(deviceType) };
    writes.push(...writeUserClock(tables.Columns, Key, { before: clocks.get(deviceType)?.user, after }));
  }
  if (lease !== undefined && !moves.leavesByLease) {
    const leased = visibleBatch(draft, batchIdOfKey(lease.item.key));
    writes.push(updateLease(TableName, lease, leased));
  }
  return { batches, writes };
}

/** The batch's row after its move in the queue. */
function moveBatch(moves: Moves, row: BatchRow): BatchRow {
  const { draft, now } = moves;
  const { lease } = draft;
  const move = moveOf(draft, row);
  if (move === undefined) return row;
  const { queue_key, queue_charges, queued_at = now, ...rest } = row;
  const { device_type, queue_priority: priority } = row;
  if (move === 'leaves' || move === 'enters anew') {
    removeItem(moves, row);
    const { queue_priority: charged } = draft.stored.batches.get(row.id) ?? row;
    if (queue_charges) moves.userClocks.set(device_type, giveBack(clocksOf(moves, row).user, queue_charges, charged));
    if (move === 'leaves') return { ...rest, queue_key: null };
  }
  // A batch that has a key gets a later one.
  const isLater = typeof queue_key === 'string' && move !== 'enters anew';
  const notBefore = isLater ? placeOfKey(queue_key).tag + tagSteps[priority] : 0;
  if (move === 'goes behind' && lease !== undefined) {
    removeItem(moves, row);
    const { device, user } = clocksOf(moves, row);
    const { fence = 0, place, losses, unseen_losses, item } = lease;
    const { job_shots } = item;
    // Its jobs are charged already.
    const tag = Math.max(device, notBefore, workEnd(user, priority));
    const shots = job_shots === undefined ? {} : { job_shots };
    return { ...row, queue_key: putItem(moves, row, { tag, part: { fence, place, losses, unseen_losses, ...shots } }) };
  }
  const jobs = move === 'grows' ? addedJobs(draft.stored, row) : countRunnable(row.jobs_count_per_status);
  const { tag, charge, user } = placeWork(clocksOf(moves, row), { priority, jobs: Math.max(1, jobs), notBefore });
  moves.userClocks.set(device_type, user);
  // What a device has, or had once, keeps its place.
  if (move === 'grows' && queue_charges === undefined) return row;
  if (move === 'grows') removeItem(moves, row);
  if (move === 'enters anew' && lease !== undefined) {
    const { key, fence, jobs_left, ...kept } = lease.item;
    return { ...row, queue_key: putItem(moves, row, { tag, part: kept }), queue_charges: [charge] };
  }
  const key = putItem(moves, row, { tag, part: { entered_at: queued_at } });
  return { ...row, queue_key: key, queue_charges: withCharge(queue_charges ?? [], charge), queued_at };
}

/** The clocks for the batch's device: the owner's as the draft has changed it so far. */
function clocksOf({ clocks, userClocks }: Moves, { device_type }: BatchRow) {
  const stored = clocks.get(device_type);
  if (stored === undefined) throw new RangeError(`The clock of ${device_type} was not read.`);
  return { device: stored.device, user: userClocks.get(device_type) ?? stored.user ?? {} };
}

function removeItem(moves: Moves, { device_type, queue_key }: BatchRow): void {
  const { lease } = moves.draft;
  const isLeased = lease !== undefined && lease.item.key === queue_key;
  moves.leavesByLease ||= isLeased;
  const Delete = { TableName: moves.TableName, Key: { device_type, key: queue_key } };
  moves.writes.push({ Delete: isLeased ? { ...Delete, ...isCurrent(lease) } : Delete });
}

/** Puts the batch at a place. Returns its key. */
function putItem(
  { TableName, draft, writes }: Moves,
  row: BatchRow,
  { tag, part }: { readonly tag: number; readonly part: Partial<QueueItem> },
): string {
  const item = { ...newItem(row, tag), ...factsOfJobs(draft, row), ...part };
  writes.push({ Put: { TableName, Item: item, ...ifAbsent('key') } });
  return item.key;
}

/** The clock without the charges of a batch that no device took. */
function giveBack(user: UserClock, charges: readonly TimeRange[], priority: QueuePriority): UserClock {
  return charges.reduceRight((clock, charge) => withdrawWork(clock, priority, charge), user);
}

/** The item of a batch at this place, without a lease. */
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
  const condition = before === undefined ? ifAbsent('key') : ifUnchanged({ clocks: before }, ['clocks']);
  return [{ Put: { TableName, Item: { ...Key, clocks: after }, ...condition } }];
}

/**
 * What the batch still has to run. The row is always up to date, the item only as of its own last
 * write.
 */
function jobsLeft({ jobs_count_per_status }: BatchRow): Pick<QueueItem, 'jobs_left'> {
  return { jobs_left: countRunnable(jobs_count_per_status) };
}

/**
 * Of the batch's jobs that the transaction writes: where its first one is, and their average runs,
 * unless one leaves its runs open. Empty if there are none.
 */
function factsOfJobs({ jobs }: Draft, { id }: BatchRow): Pick<QueueItem, 'first_seq' | 'job_shots'> {
  const ofBatch = [...jobs.values()].filter(({ batch_id }) => batch_id === id);
  const [first] = ofBatch;
  if (first === undefined) return {};
  const sum = ofBatch.reduce((total, { runs }) => total + (runs ?? Number.NaN), 0);
  return {
    ...(first.creation_order === 0 && { first_seq: first.seq }),
    ...(!Number.isNaN(sum) && { job_shots: Math.round(sum / ofBatch.length) }),
  };
}

function updateLease(TableName: string, update: LeaseUpdate, batch: BatchRow | undefined): Write {
  const { item, goesBehind, entersAnew, paused, ...lease } = update;
  const condition = isCurrent(update);
  const uncounted_us = batch?.usage_to_add?.[6];
  const set = { ...lease, ...(batch && jobsLeft(batch)), ...(uncounted_us !== undefined && { uncounted_us }) };
  const { assignments, values } = assign(set);
  const removable: readonly (keyof typeof set)[] = ['idle_since', 'rules_until', 'uncounted_us', ...ofLeasedJob];
  const removed = removable.filter((name) => set[name] === undefined);
  return {
    Update: {
      TableName,
      Key: { device_type: item.device_type, key: item.key },
      UpdateExpression: `SET ${assignments}${removed.length > 0 ? ` REMOVE ${removed.join()}` : ''}`,
      ...condition,
      ExpressionAttributeValues: { ...condition.ExpressionAttributeValues, ...values },
    },
  };
}

/**
 * The lease is as it was read. One that ran out is taken away only while no heartbeat has come.
 *
 * `rules_rev` keeps jobs from starting after the answer to an operator that pauses the device
 * (device-settings.ts). That call writes the rules, then their `rev` to each leased item, then it
 * answers. A call that starts a job has read the item and the rules:
 * - If the item had the new `rev`, the rules were read again, and are the new ones.
 * - If it had the old one, the start fails unless it is committed before the new `rev` is written,
 *   and so before the answer.
 */
function isCurrent({ item, put_back }: LeaseUpdate) {
  return ifUnchanged(item, ['fence', 'rules_rev', ...(put_back === true ? ['lease_until'] : [])]);
}
