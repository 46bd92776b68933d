/**
 * What a transaction changes in the devices' queues: the one place that derives it, from each batch before and after. So a batch is in
 * the queue of its device exactly while a worker may take it, whatever changed it.
 */

import type { DynamoDBDocumentClient, TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { CorruptData } from '../../errors.ts';
import type { BatchRow } from '../../schemas/batch.ts';
import type { TableNames } from '../../tables.ts';
import { batchGet, getItem } from '../dynamodb/reads.ts';
import { type Clocks, nextTag, queueKey, userClockAfter } from '../queue/fair-order.ts';
import { deviceClockKey, newQueueItem } from '../queue/queue-item.ts';
import type { Draft, Owner } from './draft.ts';
import { isFinalBatchStatus } from './update-row.ts';

type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/**
 * Whether a worker may take the batch, or has it: its jobs were sent with sequences, it has jobs to run, and nothing is about to end it. An
 * open batch that has begun stays with its device, which waits for further jobs.
 */
export function isForWorkers(batch: BatchRow): boolean {
  const { queue_key, creating, canceling, status, open, jobs_count_per_status } = batch;
  if (queue_key === undefined || creating === true || canceling === true) return false;
  if (isFinalBatchStatus(status) || status === 'CANCELING') return false;
  const { PENDING, RUNNING } = jobs_count_per_status;
  return PENDING + RUNNING > 0 || (open && status !== 'PENDING');
}

/** The clocks that the places of new batches follow from, by the keys of the owner's clocks. */
export type StoredClocks = ReadonlyMap<string, Clocks>;

/** The owner's clock for a device and a priority, in the Columns table: only this owner's creations are at it. */
function userClockKey({ device_type, queue_priority }: BatchRow): string {
  return `clock#${queue_priority}#${device_type}`;
}

/** The draft's batches that enter a queue. */
function enteringBatches({ batches }: Draft): BatchRow[] {
  return [...batches.values()].filter((row) => typeof row.queue_key !== 'string' && isForWorkers(row));
}

/**
 * Reads the clocks of those batches of the draft that enter a queue. The owner's is strongly consistent, since the transaction is
 * conditional on it. A device's clock that lags costs a little fairness. 1.5 read units for each device and priority.
 */
export async function readClocks(
  client: DynamoDBDocumentClient,
  { Queue, Columns }: TableNames<'Columns'> & Partial<TableNames<'Queue'>>,
  { userId, draft }: Pick<Owner, 'userId'> & { readonly draft: Draft },
): Promise<StoredClocks> {
  const entering = new Map(enteringBatches(draft).map((row) => [userClockKey(row), row]));
  if (entering.size === 0) return new Map();
  const table = requireQueue(Queue);
  const [users, ...devices] = await Promise.all([
    batchGet(client, {
      table: Columns,
      keys: Array.from(entering.keys(), (key) => ({ user_id: userId, key })),
      consistent: true,
    }),
    ...Array.from(entering.values(), ({ device_type }) =>
      getItem(client, { table, key: { device_type, key: deviceClockKey }, consistent: false }),
    ),
  ]);
  return new Map(
    Array.from(entering.keys(), (key, at) => [
      key,
      { user: tagIn(users.find((item) => item.key === key)), device: tagIn(devices[at]) },
    ]),
  );
}

function tagIn(clock: Readonly<Record<string, unknown>> | undefined): number {
  const tag = clock?.tag ?? 0;
  if (!Number.isSafeInteger(tag)) throw new CorruptData(`The clock ${String(clock?.key)} has no tag.`);
  return tag as number;
}

export interface QueueChanges {
  /** The draft's batches; those that enter or leave a queue say so. */
  readonly batches: readonly BatchRow[];
  readonly writes: readonly Write[];
}

/** What the draft changes in queues; where it is made under a lease, on condition that this is still the current one. */
export function queueChanges(
  { userId }: Owner,
  {
    draft,
    clocks,
    tables,
  }: {
    readonly draft: Draft;
    readonly clocks: StoredClocks;
    readonly tables: TableNames<'Columns'> & Partial<TableNames<'Queue'>>;
  },
): QueueChanges {
  const { lease } = draft;
  const userClocks = new Map<string, number>();
  const writes: Write[] = [];
  let leavesByLease = false;
  const batches = Array.from(draft.batches.values(), (row): BatchRow => {
    const { queue_key, device_type } = row;
    const isInQueue = typeof queue_key === 'string';
    if (isInQueue === isForWorkers(row)) return row;
    const TableName = requireQueue(tables.Queue);
    if (isInQueue) {
      const isLeased = lease !== undefined && lease.item.key === queue_key;
      leavesByLease ||= isLeased;
      const Delete = { TableName, Key: { device_type, key: queue_key } };
      writes.push({ Delete: isLeased ? { ...Delete, ...fenceIs(lease.item.fence) } : Delete });
      return { ...row, queue_key: null };
    }
    const clockKey = userClockKey(row);
    const stored = clocks.get(clockKey);
    if (stored === undefined) throw new RangeError(`The clock ${clockKey} was not read.`);
    const tag = nextTag({ ...stored, user: userClocks.get(clockKey) ?? stored.user });
    userClocks.set(clockKey, userClockAfter(tag, row.queue_priority));
    const key = queueKey({ tag, priority: row.queue_priority, created_at: row.created_at, batchId: row.id });
    const Item = newQueueItem({ device_type, key, user_id: userId });
    const isNew = { ConditionExpression: 'attribute_not_exists(#key)', ExpressionAttributeNames: { '#key': 'key' } };
    writes.push({ Put: { TableName, Item, ...isNew } });
    return { ...row, queue_key: key };
  });
  for (const [key, tag] of userClocks) {
    writes.push(writeUserClock(tables.Columns, { user_id: userId, key }, { before: clocks.get(key)?.user ?? 0, tag }));
  }
  if (lease !== undefined && !leavesByLease) writes.push(updateLease(requireQueue(tables.Queue), lease));
  return { batches, writes };
}

function writeUserClock(
  TableName: string,
  Key: { readonly user_id: string; readonly key: string },
  { before, tag }: { readonly before: number; readonly tag: number },
): Write {
  const condition =
    before === 0
      ? { ConditionExpression: 'attribute_not_exists(#key)', ExpressionAttributeNames: { '#key': 'key' } }
      : { ConditionExpression: 'tag = :before', ExpressionAttributeValues: { ':before': before } };
  return { Put: { TableName, Item: { ...Key, tag }, ...condition } };
}

function updateLease(
  TableName: string,
  { item, place, losses, lease_until, idle_since }: NonNullable<Draft['lease']>,
): Write {
  const { ConditionExpression, ExpressionAttributeValues } = fenceIs(item.fence);
  const isIdle = idle_since !== undefined;
  return {
    Update: {
      TableName,
      Key: { device_type: item.device_type, key: item.key },
      UpdateExpression: `SET place = :place, losses = :losses, lease_until = :until${isIdle ? ', idle_since = :idle' : ' REMOVE idle_since'}`,
      ConditionExpression,
      ExpressionAttributeValues: {
        ...ExpressionAttributeValues,
        ':place': place,
        ':losses': losses,
        ':until': lease_until,
        ...(isIdle && { ':idle': idle_since }),
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
