/** Which items of each table are a user's, and what becomes of them when the user is erased. */

import {
  paginateQuery,
  paginateScan,
  type QueryCommandInput,
  type ScanCommandInput,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { batchDelete } from '../../functions/data/dynamodb/batch-delete.ts';
import { ifUnchanged } from '../../functions/data/dynamodb/conditions.ts';
import type { Item } from '../../functions/data/dynamodb/reads.ts';
import { counterWrites } from '../../functions/data/lifecycle/counters.ts';
import { changeLimits } from '../../functions/data/limits/limits-of-subjects.ts';
import {
  carriedUsage,
  sumUsage,
  usageOfItem,
  usagePrefix,
  usageWrites,
} from '../../functions/data/limits/usage-sums.ts';
import type { BatchRow } from '../../functions/schemas/batch.ts';
import { userSubject } from '../../functions/schemas/limits.ts';
import { isFinalBatchStatus } from '../../functions/statuses.ts';
import { type TableDescription, type TableName, tables } from '../../functions/tables.ts';
import type { StackData } from './stack-data.ts';

/** How a user's items are found: by a query, or by a scan of all of them. */
type Search = (Pick<QueryCommandInput, 'KeyConditionExpression'> | Pick<ScanCommandInput, 'FilterExpression'>) & {
  readonly ExpressionAttributeNames?: Record<string, string>;
  readonly ExpressionAttributeValues?: Record<string, string>;
};

interface UserItems {
  search(userId: string): Search;
  /** Which of the items found are the user's; without it, all. */
  readonly isOf?: (item: Item, userId: string) => boolean;
  /** Without it, items are deleted. */
  readonly erase?: (data: StackData, items: readonly Item[], of: Erasure) => Promise<void>;
}

export interface Erasure {
  readonly userId: string;
  /** What takes the place of the user where sums and acts are kept. */
  readonly pseudonym: string;
}

const partition: UserItems = {
  search: (userId) => ({
    KeyConditionExpression: 'user_id = :user',
    ExpressionAttributeValues: { ':user': userId },
  }),
};

/** Keyed by others: all items are read. */
const named: UserItems = {
  search: (userId) => ({
    FilterExpression: 'user_id = :user',
    ExpressionAttributeValues: { ':user': userId },
  }),
};

/**
 * In the order in which they are erased: what waits first, then what could be begun from it. Null:
 * the table holds nothing of users.
 */
export const userItems: Readonly<Record<TableName, UserItems | null>> = {
  DeviceQueue: named,
  WebhookAttempts: partition,
  Sequences: partition,
  Batches: {
    ...partition,
    /** What has not ended is counted in its project, and may carry usage. */
    async erase(data, items) {
      const { client, tables, clock } = data;
      const keyOf = ({ user_id, id }: Item) => ({ user_id, id });
      const isCounted = (row: Item) =>
        row.usage_to_add !== undefined || (row.counted_in_project !== undefined && !isFinalBatchStatus(row.status));
      for (const row of (items as BatchRow[]).filter(isCounted)) {
        const none = Object.fromEntries(Object.keys(row.jobs_count_per_status).map((status) => [status, 0]));
        const gone = { ...row, status: 'CANCELED', jobs_count_per_status: none } as BatchRow;
        const draft = { stored: { batches: new Map([[row.id, row]]) }, batches: new Map([[row.id, gone]]) };
        const Delete = { TableName: tables.Batches, Key: keyOf(row), ...ifUnchanged(row, ['rev']) };
        const counted = counterWrites(data, { draft, now: clock.now() });
        const used = usageWrites(data, sumUsage([carriedUsage(row)]));
        await client.send(new TransactWriteCommand({ TransactItems: [{ Delete }, ...counted, ...used] }));
      }
      const others = items.filter((row) => !isCounted(row)).map(keyOf);
      await batchDelete(data, 'Batches', others);
    },
  },
  Jobs: partition,
  Quizzes: partition,
  // The heads are here, so creations of rows are refused until this table is erased.
  Columns: partition,
  Contributors: named,
  Limits: {
    search: (userId) => ({
      KeyConditionExpression: 'part = :part AND subject = :subject',
      ExpressionAttributeValues: { ':part': 'subjects', ':subject': userSubject(userId) },
    }),
    async erase(data, items, { userId }) {
      const change = { operator: 'npm run erase', subject: userSubject(userId), limits: undefined };
      if (items.length > 0) await changeLimits(data, change);
    },
  },
  // After the batches: what these count as leaves the counter with them.
  Counters: {
    search: (userId) => ({
      KeyConditionExpression: 'subject = :subject',
      ExpressionAttributeValues: { ':subject': userSubject(userId) },
    }),
  },
  Usage: {
    search: (userId) => ({
      FilterExpression: 'begins_with(#key, :user)',
      ExpressionAttributeNames: { '#key': 'key' },
      ExpressionAttributeValues: { ':user': usagePrefix(userId) },
    }),
    async erase(data, items, { pseudonym }) {
      const { client, tables } = data;
      for (const item of items) {
        const Key = { month: item.month, key: item.key };
        const Delete = { TableName: tables.Usage, Key, ...ifUnchanged(item, ['rev']) };
        const added = usageWrites(data, [{ ...usageOfItem(item), userId: pseudonym }]);
        await client.send(new TransactWriteCommand({ TransactItems: [{ Delete }, ...added] }));
      }
    },
  },
  // What erased the limits is an act, too.
  Audit: {
    // No filter of DynamoDB looks for words in the texts of lists.
    search: () => ({}),
    isOf: (item, userId) => renameUser(item, { userId, pseudonym: '' }) !== JSON.stringify(item),
    async erase({ client, tables }, items, of) {
      for (const item of items) {
        const Item = JSON.parse(renameUser(item, of));
        await client.send(new TransactWriteCommand({ TransactItems: [{ Put: { TableName: tables.Audit, Item } }] }));
      }
    },
  },
  Devices: null,
  Calibrations: null,
};

/** What may join two parts of an id: between a letter and the user's id, both are another's id. */
const joints = '[.:_@|/\\\\+%#~-]*';
const letter = '[\\p{L}\\p{M}\\p{N}]';

/** Members of acts that are texts for people to read. */
const proseMembers = ['reason', 'device_status'];

/**
 * An act as JSON, the user's id replaced: as operator, whose name goes, as target, and in what
 * people wrote or read, at any depth. There the name of the operator is replaced, too. A longer id
 * or word that contains the id or the name stays as it is.
 */
function renameUser(act: Item, { userId, pseudonym }: Erasure): string {
  const names = [userId, ...(act.operator === userId && act.operator_name ? [act.operator_name] : [])];
  const any = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|');
  const mention = new RegExp(`(?<!${letter}${joints})(user:)?(?:${any})(?!${joints}${letter})`, 'gu');
  return JSON.stringify(act, (name, value) => {
    if ((name === 'operator' || name === 'user_id') && value === userId) return pseudonym;
    if (name === 'operator_name' && act.operator === userId) return undefined;
    if (name === 'subject' && value === userSubject(userId)) return userSubject(pseudonym);
    if (!proseMembers.includes(name) || typeof value !== 'string') return value;
    return value.replace(mention, (_, prefix = '') => prefix + pseudonym);
  });
}

/** The user's items of a table, page by page. */
export async function* findItems(
  { client, tables: names }: Pick<StackData, 'client' | 'tables'>,
  table: TableName,
  userId: string,
): AsyncGenerator<Item[]> {
  const facts = userItems[table];
  if (facts === null) return;
  const input = { TableName: names[table], ConsistentRead: true, ...facts.search(userId) };
  const pages = 'KeyConditionExpression' in input ? paginateQuery({ client }, input) : paginateScan({ client }, input);
  for await (const { Items = [] } of pages) {
    const items = Items.filter((item) => facts.isOf?.(item, userId) ?? true);
    if (items.length > 0) yield items;
  }
}

/** Erases the user's items of a table. Returns how many there were. */
export async function eraseItems(data: StackData, table: TableName, of: Erasure): Promise<number> {
  const { partitionKey, sortKey }: TableDescription = tables[table];
  let count = 0;
  for await (const items of findItems(data, table, of.userId)) {
    const keys = items.map((item) => ({ [partitionKey]: item[partitionKey], [sortKey]: item[sortKey] }));
    if (userItems[table]?.erase) await userItems[table].erase(data, items, of);
    else await batchDelete(data, table, keys);
    count += items.length;
  }
  return count;
}
