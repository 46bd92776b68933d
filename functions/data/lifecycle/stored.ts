/**
 * Reads what a transaction is decided from. All reads are strongly consistent: its conditions would
 * fail on stale ones.
 */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { CorruptData } from '../../errors.ts';
import { BatchRow } from '../../schemas/batch.ts';
import type { DeviceRules } from '../../schemas/device-rules.ts';
import { JobRow } from '../../schemas/job.ts';
import type { LeaseReference } from '../../schemas/lease.ts';
import { requireTable } from '../../tables.ts';
import { blockBytes } from '../columns/column-items.ts';
import { readDictionaries } from '../columns/dictionaries.ts';
import { type Head, headKey, headOf, requireFormat } from '../columns/head.ts';
import type { ListDescription } from '../columns/list-description.ts';
import { batchGetAll, getItem, type Item, queryFirstPage } from '../dynamodb/reads.ts';
import { storedRow } from '../dynamodb/stored-row.ts';
import { deviceRules, deviceRulesKey, nextWindow, restAt } from '../queue/device-rules.ts';
import { batchIdOfKey } from '../queue/fair-order.ts';
import { QueueItem } from '../queue/queue-item.ts';
import { blockKeys, type Change, type Draft, type Owner, type Stored } from './draft.ts';
import { chargedDevices, readDeviceClocks, storedClocks, userClockKey } from './queue-writes.ts';
import { type LifecycleTables, processedCall, processedEventKey } from './transaction.ts';

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

/** What a commit knows before it reads. */
interface Expected {
  readonly newIds: ReadonlySet<string>;
  readonly remembered: ReadonlySet<string>;
}

export function storedReads(
  client: DynamoDBDocumentClient,
  tables: LifecycleTables,
  { userId, lists, now = Date.now }: Owner & { readonly now?: () => number },
) {
  return {
    /**
     * The rows that the operations need, the batches of these jobs, the heads, the events processed
     * before, and the lease with the rules of its device. No row has one of the
     * `newIds`, unless one of the operations' events or calls was processed before, by others than
     * those who have `remembered` it.
     */
    async readStored(operations: readonly Change[], { newIds, remembered }: Expected): Promise<Stored> {
      const batchIds = new Set(operations.flatMap((operation) => operation.batchIds));
      const jobIds = new Set(operations.flatMap((operation) => operation.jobIds));
      const eventIds = new Set(
        operations.flatMap(({ event, idempotencyRecord }) => [event?.id ?? [], idempotencyRecord?.id ?? []].flat()),
      );
      const headKeys = { batch: headKey(lists.batch), job: headKey(lists.job) };
      const isNew = (id: string) => newIds.has(id);
      const { lease, startsJobs = false } = operations.find((operation) => operation.lease !== undefined) ?? {};
      const { columns, batches, jobs, queue } = await read({
        columns: [...Object.values(headKeys), ...Array.from(eventIds, processedEventKey)],
        batches: [...batchIds].filter((id) => !isNew(id)),
        jobs: [...jobIds].filter((id) => !isNew(id)),
        queue: lease === undefined ? [] : queueKeys(lease, startsJobs),
      });
      const wasProcessed = (id: string) => !remembered.has(id) && columns.has(processedEventKey(id));
      if (newIds.size > 0 && [...eventIds].some(wasProcessed)) {
        const before = await read({ batches: [...batchIds].filter(isNew), jobs: [...jobIds].filter(isNew) });
        batches.push(...before.batches);
        jobs.push(...before.jobs);
      }
      const furtherBatches = new Set(jobs.map((job) => job.batch_id)).difference(batchIds);
      const [{ batches: further }, leased, batchHead, jobHead] = await Promise.all([
        read({ batches: [...furtherBatches] }),
        lease && readRules(lease, startsJobs, queue),
        currentHead(lists.batch, columns.get(headKeys.batch)),
        currentHead(lists.job, columns.get(headKeys.job)),
      ]);
      const running = operations.some(({ endsJobs }) => endsJobs) ? await readRunning([...batches, ...further]) : [];
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
    },

    /**
     * Throws CorruptData when a head is lost: without it, new rows would be numbered from 0 again.
     * Reads only for an owner without a head, so once for each list: a call, and the read units of
     * one row.
     */
    async requireHeads({ stored, batches, jobs }: Draft): Promise<void> {
      await Promise.all([
        stored.heads.batch === undefined && batches.size > 0 && requireNoRows(tables.Batches),
        stored.heads.job === undefined && jobs.size > 0 && requireNoRows(requireTable(tables, 'Jobs')),
      ]);
    },

    /**
     * What the draft is written on top of: the bytes of those of its blocks that exist, by their
     * keys, and the clocks of its batches (readDeviceClocks). A read unit for each block and each
     * owner's clock: strongly consistent, since the transaction is conditional on them.
     */
    async readBlocksAndClocks(draft: Draft) {
      const ofBlocks = blockKeys(draft);
      const charged = chargedDevices(draft);
      const [{ columns }, devices] = await Promise.all([
        read({ columns: [...ofBlocks, ...Array.from(charged.keys(), userClockKey)] }),
        readDeviceClocks(client, tables, { draft, charged }),
      ]);
      const blocks = Array.from(columns).filter(([key]) => ofBlocks.has(key));
      return {
        blocks: new Map(blocks.map(([key, item]) => [key, blockBytes(item)])),
        clocks: storedClocks(charged, columns, devices),
      };
    },
  };

  async function requireNoRows(table: string): Promise<void> {
    const { items } = await queryFirstPage(client, {
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

  /** What exists of these, strongly consistent: 100 in one call, whatever they are. */
  async function read({ columns = [], batches = [], jobs = [], queue = [] }: Wanted) {
    const items = await batchGetAll(
      client,
      {
        [tables.Columns]: columns.map((key) => ({ user_id: userId, key })),
        [tables.Batches]: batches.map(rowKey),
        ...(jobs.length > 0 && { [requireTable(tables, 'Jobs')]: jobs.map(rowKey) }),
        ...(queue.length > 0 && { [requireTable(tables, 'DeviceQueue')]: queue }),
      },
      { consistent: true },
    );
    const ofTable = (name: keyof LifecycleTables) => items.get(tables[name] ?? '') ?? [];
    return {
      columns: new Map(ofTable('Columns').map((item) => [String(item.key), item])),
      batches: ofTable('Batches').map((item) => storedRow(BatchRow, item)),
      jobs: ofTable('Jobs').map((item) => storedRow(JobRow, item)),
      queue: ofTable('DeviceQueue'),
    };
  }

  /** The head with all texts of its dictionaries. */
  async function currentHead(list: ListDescription, item: Item | undefined): Promise<Head | undefined> {
    if (item === undefined) return undefined;
    const { dictionary_blocks, ...head } = requireFormat(list, headOf(list, item));
    const reads = { client, table: tables.Columns, userId, list, consistent: true };
    return { ...head, dictionaries: await readDictionaries(reads, { ...head, dictionary_blocks }) };
  }

  async function readRules(
    lease: LeaseReference,
    startsJobs: boolean,
    items: readonly Item[],
  ): Promise<Pick<Stored, 'leased' | 'device'>> {
    let [leased, rules] = inQueue(lease, items);
    if (!startsJobs) return { leased };
    // A change of the rules came between the two items: now both are as new as the change.
    if ((leased?.rules_rev ?? 0) > rules.rev) {
      const { queue } = await read({ queue: queueKeys(lease, true) });
      [leased, rules] = inQueue(lease, queue);
    }
    const device = {
      rest: restAt(rules, now()),
      until: nextWindow(rules, now()),
      max_job_seconds: rules.max_job_seconds,
    };
    return { leased, device };
  }

  async function readRunning(batches: readonly BatchRow[]): Promise<QueueItem[]> {
    const keys = batches.flatMap(({ device_type, queue_key: key, jobs_count_per_status }) =>
      typeof key === 'string' && jobs_count_per_status.RUNNING > 0 ? [{ device_type, key }] : [],
    );
    const read = (key: Item) => getItem(client, { table: requireTable(tables, 'DeviceQueue'), key, consistent: true });
    return (await Promise.all(keys.map(read))).flatMap((item) =>
      item === undefined ? [] : storedRow(QueueItem, item),
    );
  }

  function rowKey(id: string) {
    return { user_id: userId, id };
  }
}

function queueKeys({ deviceType: device_type, key }: LeaseReference, withRules: boolean): Item[] {
  return [key, ...(withRules ? [deviceRulesKey] : [])].map((each) => ({ device_type, key: each }));
}

/** The lease's item, and the rules of its device as far as they were read. */
function inQueue({ key }: LeaseReference, items: readonly Item[]): [QueueItem | undefined, DeviceRules] {
  const item = items.find((each) => each.key === key);
  return [item && storedRow(QueueItem, item), deviceRules(items.find((each) => each.key === deviceRulesKey))];
}
