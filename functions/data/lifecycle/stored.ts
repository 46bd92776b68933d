/**
 * Reads what a transaction is decided from. All reads are strongly consistent: its conditions would
 * fail on stale ones.
 */

import { CorruptData } from '../../errors.ts';
import { BatchRow } from '../../schemas/batch.ts';
import type { DeviceRules } from '../../schemas/device-rules.ts';
import { JobRow } from '../../schemas/job.ts';
import type { LeaseReference } from '../../schemas/lease.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import { blockBytes } from '../columns/column-items.ts';
import { type Head, headKey, headOf, requireFormat } from '../columns/head.ts';
import type { ListDescription } from '../columns/list-description.ts';
import { formatsOf } from '../columns/lists.ts';
import { batchGetAll, getItem, type Item, queryFirstPage } from '../dynamodb/reads.ts';
import { readDictionaries } from '../lists/read-dictionaries.ts';
import { calibrationsOf, type KnownCalibrations } from '../queue/calibrations-in-force.ts';
import { deviceRules, deviceRulesKey, nextWindow, pauseAt } from '../queue/device-rules.ts';
import { batchIdOfKey } from '../queue/fair-order.ts';
import { QueueItem } from '../queue/queue-item.ts';
import { blockKeys, type Change, type Draft, type Stored } from './draft.ts';
import type { LifecycleDb } from './lifecycle-db.ts';
import { chargedDevices, readDeviceClocks, storedClocks, userClockKey } from './queue-writes.ts';
import { processedCall, processedEventKey } from './transaction.ts';

/**
 * Of BatchGetItem's 100 keys, two are heads, and two a lease and the rules of its device. Where
 * each row is of an event of its own, they take a second call.
 */
export const maxRowsRead = 96;

/** What is read of an owner, by keys and ids, and of a device's queue. */
interface Wanted {
  readonly columns?: readonly string[];
  readonly batches?: readonly string[];
  readonly jobs?: readonly string[];
  readonly queue?: readonly Item[];
}

/** What an attempt asks for, and what its commit knows before it reads. */
interface Attempted {
  readonly changes: readonly Change[];
  /**
   * No row has one of these ids, unless another call than this commit has processed one of the
   * changes' events or calls before.
   */
  readonly newIds: ReadonlySet<string>;
  /** Ids of the events and calls that this commit has remembered. */
  readonly remembered: ReadonlySet<string>;
}

/**
 * The rows that the changes need, the batches of these jobs, the heads, the events processed
 * before, and the lease with the rules of its device.
 */
export async function readStored(
  db: LifecycleDb,
  userId: string,
  { changes, newIds, remembered }: Attempted,
): Promise<Stored> {
  const lists = formatsOf(db);
  const batchIds = new Set(changes.flatMap((change) => change.batchIds));
  const jobIds = new Set(changes.flatMap((change) => change.jobIds));
  const eventIds = new Set(
    changes.flatMap(({ event, idempotencyRecord: record }) => [event?.id ?? [], record?.id ?? []].flat()),
  );
  const headKeys = { batch: headKey(lists.batch), job: headKey(lists.job) };
  const isNew = (id: string) => newIds.has(id);
  const { lease, startsJobs = false } = changes.find((change) => change.lease !== undefined) ?? {};
  const { columns, batches, jobs, queue } = await read(db, userId, {
    columns: [...Object.values(headKeys), ...Array.from(eventIds, processedEventKey)],
    batches: [...batchIds].filter((id) => !isNew(id)),
    jobs: [...jobIds].filter((id) => !isNew(id)),
    queue: lease === undefined ? [] : queueKeys(lease, startsJobs),
  });
  const wasProcessed = (id: string) => !remembered.has(id) && columns.has(processedEventKey(id));
  if (newIds.size > 0 && [...eventIds].some(wasProcessed)) {
    const wanted = { batches: [...batchIds].filter(isNew), jobs: [...jobIds].filter(isNew) };
    const before = await read(db, userId, wanted);
    batches.push(...before.batches);
    jobs.push(...before.jobs);
  }
  const furtherBatches = new Set(jobs.map((job) => job.batch_id)).difference(batchIds);
  const [{ batches: further }, leased, batchHead, jobHead] = await Promise.all([
    read(db, userId, { batches: [...furtherBatches] }),
    lease && readLeased(db, { lease, startsJobs, items: queue }),
    currentHead(db, { userId, list: lists.batch, item: columns.get(headKeys.batch) }),
    currentHead(db, { userId, list: lists.job, item: columns.get(headKeys.job) }),
  ]);
  const running = changes.some(({ endsJobs }) => endsJobs) ? await readRunning(db, [...batches, ...further]) : [];
  const processedCalls = [...eventIds].flatMap((id) => {
    const item = columns.get(processedEventKey(id));
    return item === undefined ? [] : [[id, processedCall(id, item)] as const];
  });
  return {
    heads: { batch: batchHead, job: jobHead },
    batches: new Map([...batches, ...further].map((row) => [row.id, row])),
    jobs: new Map(jobs.map((row) => [row.id, row])),
    processedCalls: new Map(processedCalls),
    ...leased,
    running: new Map(running.map((item) => [batchIdOfKey(item.key), item])),
  };
}

/**
 * Throws CorruptData when a head is lost: without it, new rows would be numbered from 0 again.
 * Reads only for an owner without a head, so once for each list: one call, and the read units of
 * one row.
 */
export async function requireHeads(db: LifecycleDb, userId: string, { stored, batches, jobs }: Draft): Promise<void> {
  await Promise.all([
    stored.heads.batch === undefined && batches.size > 0 && requireNoRows(db, userId, 'Batches'),
    stored.heads.job === undefined && jobs.size > 0 && requireNoRows(db, userId, 'Jobs'),
  ]);
}

async function requireNoRows(db: LifecycleDb, userId: string, table: 'Batches' | 'Jobs'): Promise<void> {
  const { items } = await queryFirstPage(db, {
    table,
    partition: { user_id: userId },
    sortKey: 'id',
    range: 'all',
    consistent: true,
    pageLimit: 1,
  });
  if (items.length === 0) return;
  throw new CorruptData(`A user has rows in ${table} but no head: npm run repair -- --fix makes it anew.`);
}

/**
 * What the draft is written on top of: the bytes of its blocks that exist, by their keys, and the
 * clocks of its batches (readDeviceClocks). A read unit for each block and each owner's clock:
 * strongly consistent, since the transaction is conditional on them.
 */
export async function readBlocksAndClocks(db: LifecycleDb, userId: string, draft: Draft) {
  const ofBlocks = blockKeys(draft);
  const charged = chargedDevices(draft);
  const [{ columns }, devices] = await Promise.all([
    read(db, userId, { columns: [...ofBlocks, ...Array.from(charged.keys(), userClockKey)] }),
    readDeviceClocks(db, { draft, charged }),
  ]);
  const blocks = Array.from(columns).filter(([key]) => ofBlocks.has(key));
  return {
    blocks: new Map(blocks.map(([key, item]) => [key, blockBytes(item)])),
    clocks: storedClocks(charged, columns, devices),
  };
}

/** What exists of these, strongly consistent: 100 in one call, whatever they are. */
async function read(db: LifecycleDb, userId: string, { columns = [], batches = [], jobs = [], queue = [] }: Wanted) {
  const rowKey = (id: string) => ({ user_id: userId, id });
  const items = await batchGetAll(
    db,
    {
      Columns: columns.map((key) => ({ user_id: userId, key })),
      Batches: batches.map(rowKey),
      Jobs: jobs.map(rowKey),
      DeviceQueue: queue,
    },
    { consistent: true },
  );
  return {
    columns: new Map(items.get('Columns')?.map((item) => [String(item.key), item])),
    batches: (items.get('Batches') ?? []).map((item) => storedRow(BatchRow(), item)),
    jobs: (items.get('Jobs') ?? []).map((item) => storedRow(JobRow(), item)),
    queue: items.get('DeviceQueue') ?? [],
  };
}

interface StoredHeadItem {
  readonly userId: string;
  readonly list: ListDescription;
  readonly item: Item | undefined;
}

/** The head with all texts of its dictionaries. */
async function currentHead(db: LifecycleDb, { userId, list, item }: StoredHeadItem): Promise<Head | undefined> {
  if (item === undefined) return undefined;
  const { dictionary_blocks, ...head } = requireFormat(list, headOf(list, item));
  const reads = { userId, list, consistent: true };
  return { ...head, dictionaries: await readDictionaries(db, reads, { ...head, dictionary_blocks }) };
}

interface LeasedItems {
  readonly lease: LeaseReference;
  readonly startsJobs: boolean;
  readonly items: readonly Item[];
}

async function readLeased(
  db: LifecycleDb,
  { lease, startsJobs, items }: LeasedItems,
): Promise<Pick<Stored, 'leased' | 'device'>> {
  let [leased, rules, calibrations] = inQueue(lease, items);
  if (!startsJobs) return { leased };
  // A change of the rules came between the two items: now both are as new as the change.
  if ((leased?.rules_rev ?? 0) > rules.rev) {
    const { queue } = await read(db, lease.userId, { queue: queueKeys(lease, true) });
    [leased, rules, calibrations] = inQueue(lease, queue);
  }
  const now = db.clock.now();
  const device = {
    calibrations,
    pause: pauseAt(rules, now),
    until: nextWindow(rules, now),
    max_job_seconds: rules.max_job_seconds,
  };
  return { leased, device };
}

async function readRunning(db: LifecycleDb, batches: readonly BatchRow[]): Promise<QueueItem[]> {
  const keys = batches.flatMap(({ device_type, queue_key: key, jobs_count_per_status }) =>
    typeof key === 'string' && jobs_count_per_status.RUNNING > 0 ? [{ device_type, key }] : [],
  );
  const found = await Promise.all(keys.map((key) => getItem(db, { table: 'DeviceQueue', key, consistent: true })));
  return found.flatMap((item) => (item === undefined ? [] : storedRow(QueueItem, item)));
}

function queueKeys({ deviceType: device_type, key }: LeaseReference, withRules: boolean): Item[] {
  return [key, ...(withRules ? [deviceRulesKey] : [])].map((each) => ({ device_type, key: each }));
}

/** The lease's item, and the rules and calibrations of its device as far as they were read. */
function inQueue(
  { key }: LeaseReference,
  items: readonly Item[],
): [QueueItem | undefined, DeviceRules, KnownCalibrations] {
  const item = items.find((each) => each.key === key);
  const ofDevice = items.find((each) => each.key === deviceRulesKey);
  return [item && storedRow(QueueItem, item), deviceRules(ofDevice), calibrationsOf(ofDevice)];
}
