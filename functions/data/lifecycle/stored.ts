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
import { readDictionaries } from '../columns/dictionaries.ts';
import { type Head, headKey, headOf, requireFormat } from '../columns/head.ts';
import type { ListDescription } from '../columns/list-description.ts';
import { batchGet, getItem, type Item, queryFirstPage } from '../dynamodb/reads.ts';
import { storedRow } from '../dynamodb/stored-row.ts';
import { deviceRules, deviceRulesKey, nextWindow, restAt } from '../queue/device-rules.ts';
import { batchIdOfKey } from '../queue/fair-order.ts';
import { QueueItem } from '../queue/queue-item.ts';
import type { Change, Draft, Owner, Stored } from './draft.ts';
import { type LifecycleTables, processedCall, processedEventKey } from './transaction.ts';

/**
 * BatchGetItem takes 100 keys of a table. With the operations' rows go two heads, and an event for
 * each operation.
 */
export const maxRowsRead = 96;

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
      const [columns, batches, jobs, leased] = await Promise.all([
        readColumns([...Object.values(headKeys), ...Array.from(eventIds, processedEventKey)]),
        readBatches([...batchIds].filter((id) => !isNew(id))),
        readJobs([...jobIds].filter((id) => !isNew(id))),
        readLeased(operations.find(({ lease }) => lease !== undefined)),
      ]);
      const wasProcessed = (id: string) => !remembered.has(id) && columns.has(processedEventKey(id));
      if (newIds.size > 0 && [...eventIds].some(wasProcessed)) {
        const [before, jobsBefore] = await Promise.all([
          readBatches([...batchIds].filter(isNew)),
          readJobs([...jobIds].filter(isNew)),
        ]);
        batches.push(...before);
        jobs.push(...jobsBefore);
      }
      const jobRows = jobs.map((item) => storedRow(JobRow, item, lists.job.rowDefaults));
      const furtherBatches = new Set(jobRows.map((job) => job.batch_id)).difference(batchIds);
      const [further, batchHead, jobHead] = await Promise.all([
        readBatches([...furtherBatches]),
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
        jobs: new Map(jobRows.map((row) => [row.id, row])),
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

    /** The owner's items in the Columns table that exist, by these keys: 100 in one call. */
    readColumns,
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

  async function readBatches(ids: readonly string[]): Promise<BatchRow[]> {
    const items = await batchGet(client, { table: tables.Batches, keys: ids.map(rowKey), consistent: true });
    return items.map((item) => storedRow(BatchRow, item, lists.batch.rowDefaults));
  }

  async function readJobs(ids: readonly string[]): Promise<Item[]> {
    if (ids.length === 0) return [];
    return batchGet(client, { table: requireTable(tables, 'Jobs'), keys: ids.map(rowKey), consistent: true });
  }

  async function readColumns(keys: readonly string[]): Promise<Map<string, Item>> {
    const columnKeys = keys.map((key) => ({ user_id: userId, key }));
    const items = await batchGet(client, { table: tables.Columns, keys: columnKeys, consistent: true });
    return new Map(items.map((item) => [String(item.key), item]));
  }

  /** The head with all texts of its dictionaries. */
  async function currentHead(list: ListDescription, item: Item | undefined): Promise<Head | undefined> {
    if (item === undefined) return undefined;
    const { dictionary_blocks, ...head } = requireFormat(list, headOf(list, item));
    const reads = { client, table: tables.Columns, userId, list, consistent: true };
    return { ...head, dictionaries: await readDictionaries(reads, { ...head, dictionary_blocks }) };
  }

  async function readLeased({ lease, startsJobs }: Partial<Change> = {}): Promise<Pick<Stored, 'leased' | 'device'>> {
    if (lease === undefined) return {};
    if (!startsJobs) return { leased: (await readQueue(lease, [lease.key])).leased };
    let { leased, rules } = await readQueue(lease);
    // The rules were changed between the two reads: now both are as new as the change.
    if ((leased?.rules_rev ?? 0) > rules.rev) ({ leased, rules } = await readQueue(lease));
    const device = {
      rest: restAt(rules, now()),
      until: nextWindow(rules, now()),
      max_job_seconds: rules.max_job_seconds,
    };
    return { leased, device };
  }

  async function readQueue({ deviceType: device_type, key }: LeaseReference, names = [key, deviceRulesKey]) {
    const keys = names.map((each) => ({ device_type, key: each }));
    const items = await batchGet(client, { table: requireTable(tables, 'DeviceQueue'), keys, consistent: true });
    const item = items.find((each) => each.key === key);
    const rules: DeviceRules = deviceRules(items.find((each) => each.key === deviceRulesKey));
    return { leased: item && storedRow(QueueItem, item), rules };
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
