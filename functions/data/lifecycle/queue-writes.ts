/**
 * What a transaction changes in the devices' queues: the one place that derives it, from each batch
 * before and after. So a batch is in the queue of its device exactly while a worker may take it,
 * whatever changed it.
 */

import type { DynamoDBDocumentClient, TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { BatchRow } from '../../schemas/batch.ts';
import { countRunnable, isStopping } from '../../statuses.ts';
import type { TableNames } from '../../tables.ts';
import { batchGet, getItem } from '../dynamodb/reads.ts';
import { storedRow } from '../dynamodb/stored-row.ts';
import { newUserClock, placeBatch, queueKey, tagOfKey, type UserClock, withdrawBatch } from '../queue/fair-order.ts';
import { clockTag, deviceClockKey, newQueueItem, StoredUserClock } from '../queue/queue-item.ts';
import type { Draft, Owner } from './draft.ts';
import { firstPendingPosition } from './pending-calls.ts';

type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/**
 * Whether a worker may take the batch, or has it: its jobs were sent with sequences, it has jobs to
 * run, and nothing is about to end it. An open batch that has begun stays with its device, which
 * waits for further jobs. One that is not in the queue does not enter it while a call adds jobs:
 * all that it could run are to come.
 */
export function isClaimable(batch: BatchRow): boolean {
  const { queue_key, creating, canceling, status, open, jobs_count_per_status } = batch;
  if (queue_key === undefined || creating === true || canceling === true) return false;
  if (isStopping(status)) return false;
  if (queue_key === null && firstPendingPosition(batch) < Number.POSITIVE_INFINITY) return false;
  return countRunnable(jobs_count_per_status) > 0 || (open && status !== 'PENDING');
}

/** The owner's clocks by their keys, where there are any, each with the device's. */
export type StoredClocks = ReadonlyMap<string, { readonly device: number; readonly user: UserClock | undefined }>;

/**
 * The owner's clock for a device and a priority, in the Columns table: only this owner's creations
 * and cancellations are at it.
 */
function userClockKey({ device_type, queue_priority }: BatchRow): string {
  return `clock#${queue_priority}#${device_type}`;
}

function enters(row: BatchRow): boolean {
  return typeof row.queue_key !== 'string' && isClaimable(row);
}

/**
 * Whether the draft takes the batch out of its queue before a device took it: no job of it has run,
 * or the batch would say so.
 */
function isWithdrawn({ stored }: Draft, row: BatchRow): boolean {
  return typeof row.queue_key === 'string' && !isClaimable(row) && stored.batches.get(row.id)?.status === 'PENDING';
}

/**
 * Reads the clocks of those batches of the draft that enter a queue, and the owner's of those that
 * leave one before a device took them. The owner's is strongly consistent, since the transaction is
 * conditional on it. A device's clock that lags costs a little fairness. For each device and
 * priority 1 read unit, and half a one more where a batch enters.
 */
export async function readClocks(
  client: DynamoDBDocumentClient,
  { DeviceQueue, Columns }: TableNames<'Columns'> & Partial<TableNames<'DeviceQueue'>>,
  { userId, draft }: Pick<Owner, 'userId'> & { readonly draft: Draft },
): Promise<StoredClocks> {
  const rows = [...draft.batches.values()];
  const moving = [...rows.filter((row) => isWithdrawn(draft, row)), ...rows.filter(enters)];
  const byClock = new Map(moving.map((row) => [userClockKey(row), row]));
  if (byClock.size === 0) return new Map();
  const [users, ...devices] = await Promise.all([
    batchGet(client, {
      table: Columns,
      keys: Array.from(byClock.keys(), (key) => ({ user_id: userId, key })),
      consistent: true,
    }),
    ...Array.from(byClock.values(), async (row) => {
      if (!enters(row)) return 0;
      const key = { device_type: row.device_type, key: deviceClockKey };
      return clockTag(await getItem(client, { table: requireQueue(DeviceQueue), key, consistent: false }));
    }),
  ]);
  return new Map(
    Array.from(byClock.keys(), (key, at) => {
      const user = users.find((item) => item.key === key);
      return [key, { device: devices[at] as number, user: user && storedRow(StoredUserClock, user) }];
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
  }: {
    readonly draft: Draft;
    readonly clocks: StoredClocks;
    readonly tables: TableNames<'Columns'> & Partial<TableNames<'DeviceQueue'>>;
  },
): QueueChanges {
  const { lease } = draft;
  const userClocks = new Map<string, UserClock>();
  const clocksOf = (row: BatchRow) => {
    const key = userClockKey(row);
    const stored = clocks.get(key);
    if (stored === undefined) throw new RangeError(`The clock ${key} was not read.`);
    return { device: stored.device, user: userClocks.get(key) ?? stored.user ?? newUserClock };
  };
  const writes: Write[] = [];
  let leavesByLease = false;
  const batches = Array.from(draft.batches.values(), (row): BatchRow => {
    const { queue_key, device_type } = row;
    const isInQueue = typeof queue_key === 'string';
    if (isInQueue === isClaimable(row)) return row;
    const TableName = requireQueue(tables.DeviceQueue);
    if (isInQueue) {
      const isLeased = lease !== undefined && lease.item.key === queue_key;
      leavesByLease ||= isLeased;
      const Delete = { TableName, Key: { device_type, key: queue_key } };
      writes.push({ Delete: isLeased ? { ...Delete, ...fenceIs(lease.item.fence) } : Delete });
      if (isWithdrawn(draft, row)) {
        userClocks.set(
          userClockKey(row),
          withdrawBatch(clocksOf(row).user, { tag: tagOfKey(queue_key), priority: row.queue_priority }),
        );
      }
      return { ...row, queue_key: null };
    }
    const { tag, user } = placeBatch(clocksOf(row), row.queue_priority);
    userClocks.set(userClockKey(row), user);
    const key = queueKey({ tag, priority: row.queue_priority, created_at: row.created_at, batchId: row.id });
    const Item = newQueueItem({ device_type, key, user_id: userId });
    const isNew = { ConditionExpression: 'attribute_not_exists(#key)', ExpressionAttributeNames: { '#key': 'key' } };
    writes.push({ Put: { TableName, Item, ...isNew } });
    return { ...row, queue_key: key };
  });
  for (const [key, after] of userClocks) {
    const before = clocks.get(key)?.user;
    if (after !== before) writes.push(writeUserClock(tables.Columns, { user_id: userId, key }, { before, after }));
  }
  if (lease !== undefined && !leavesByLease) writes.push(updateLease(requireQueue(tables.DeviceQueue), lease));
  return { batches, writes };
}

function writeUserClock(
  TableName: string,
  Key: { readonly user_id: string; readonly key: string },
  { before, after }: { readonly before: UserClock | undefined; readonly after: UserClock },
): Write {
  const Item = { ...Key, ...after };
  if (before === undefined) {
    const ExpressionAttributeNames = { '#key': 'key' };
    return { Put: { TableName, Item, ConditionExpression: 'attribute_not_exists(#key)', ExpressionAttributeNames } };
  }
  // Clocks had nothing withdrawn once.
  const isSame = 'withdrawn = :withdrawn';
  const hasNone = before.withdrawn.length === 0 ? ' OR attribute_not_exists(withdrawn)' : '';
  return {
    Put: {
      TableName,
      Item,
      ConditionExpression: `tag = :tag AND (${isSame}${hasNone})`,
      ExpressionAttributeValues: { ':tag': before.tag, ':withdrawn': before.withdrawn },
    },
  };
}

function updateLease(TableName: string, { item, idle_since, ...lease }: NonNullable<Draft['lease']>): Write {
  const { ConditionExpression, ExpressionAttributeValues } = fenceIs(item.fence);
  const values = Object.entries({ ...lease, idle_since }).filter(([, value]) => value !== undefined);
  const assignments = values.map(([name]) => `${name} = :${name}`).join(', ');
  return {
    Update: {
      TableName,
      Key: { device_type: item.device_type, key: item.key },
      UpdateExpression: `SET ${assignments}${idle_since === undefined ? ' REMOVE idle_since' : ''}`,
      ConditionExpression,
      ExpressionAttributeValues: {
        ...ExpressionAttributeValues,
        ...Object.fromEntries(values.map(([name, value]) => [`:${name}`, value])),
      },
    },
  };
}

function fenceIs(fence: number) {
  return { ConditionExpression: 'fence = :fence', ExpressionAttributeValues: { ':fence': fence } };
}

function requireQueue(name: string | undefined): string {
  if (name === undefined) throw new RangeError('The name of the table of queues is not known.');
  return name;
}
