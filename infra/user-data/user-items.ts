/** Which items of each table are a user's, and what becomes of them when the user is erased. */

import { paginateQuery, paginateScan, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { batchDelete } from '../../functions/data/dynamodb/batch-delete.ts';
import type { Item } from '../../functions/data/dynamodb/reads.ts';
import { usageKeyOf, usageOfItem, usagePrefix, usageWrites } from '../../functions/data/lifecycle/usage.ts';
import { changeLimits } from '../../functions/data/limits.ts';
import { userSubject } from '../../functions/schemas/limits.ts';
import { type TableDescription, type TableName, tables } from '../../functions/tables.ts';
import type { StackData } from './stack-data.ts';

/** How a user's items are found: by a query, or by a scan of all of them. */
type Search =
  | { readonly query: Readonly<Record<string, string>> }
  | { readonly filter: string; readonly names: Readonly<Record<string, string>>; readonly values: Item };

interface UserItems {
  search(userId: string): Search;
  /** Without it, items are deleted. */
  readonly erase?: (data: StackData, items: readonly Item[], of: Erasure) => Promise<void>;
}

export interface Erasure {
  readonly userId: string;
  /** What takes the place of the user where sums and acts are kept. */
  readonly pseudonym: string;
}

const partition: UserItems = { search: (userId) => ({ query: { user_id: userId } }) };

/**
 * In the order in which they are erased: what waits first, then what could be begun from it. Null:
 * the table holds nothing of users.
 */
export const userItems: Readonly<Record<TableName, UserItems | null>> = {
  DeviceQueue: {
    search: (userId) => ({ filter: '#user = :user', names: { '#user': 'user_id' }, values: { ':user': userId } }),
  },
  WebhookAttempts: partition,
  Sequences: partition,
  Batches: partition,
  Jobs: partition,
  Quizzes: partition,
  // The heads are here: whoever creates rows meanwhile is refused until then.
  Columns: partition,
  Limits: {
    search: (userId) => ({ query: { part: 'subjects', subject: userSubject(userId) } }),
    async erase({ client, tables }, items, { userId }) {
      const change = { operator: 'npm run erase', subject: userSubject(userId), limits: undefined };
      if (items.length > 0) await changeLimits(client, tables)(change);
    },
  },
  Usage: {
    search: (userId) => ({
      filter: 'begins_with(#key, :user)',
      names: { '#key': 'key' },
      values: { ':user': usagePrefix(userId) },
    }),
    async erase({ client, tables }, items, { pseudonym }) {
      for (const item of items) {
        const Delete = {
          TableName: tables.Usage,
          Key: usageKeyOf(String(item.key)),
          ConditionExpression: 'rev = :rev',
          ExpressionAttributeValues: { ':rev': item.rev },
        };
        const added = usageWrites(tables.Usage, [{ ...usageOfItem(item), userId: pseudonym }]);
        await client.send(new TransactWriteCommand({ TransactItems: [{ Delete }, ...added] }));
      }
    },
  },
  // What erased the limits is an act, too.
  Audit: {
    search: (userId) => ({
      filter: '#operator = :user OR #target.#user = :user OR #target.#subject = :subject',
      names: { '#operator': 'operator', '#target': 'target', '#user': 'user_id', '#subject': 'subject' },
      values: { ':user': userId, ':subject': userSubject(userId) },
    }),
    async erase({ client, tables }, items, { userId, pseudonym }) {
      const renamed = { [userId]: pseudonym, [userSubject(userId)]: userSubject(pseudonym) };
      for (const item of items) {
        const Item = JSON.parse(JSON.stringify(item), (_, value) => renamed[value as string] ?? value);
        await client.send(new TransactWriteCommand({ TransactItems: [{ Put: { TableName: tables.Audit, Item } }] }));
      }
    },
  },
  Devices: null,
};

/** The user's items of a table, page by page. */
export async function* findItems(
  { client, tables: names }: Pick<StackData, 'client' | 'tables'>,
  table: TableName,
  userId: string,
): AsyncGenerator<Item[]> {
  const facts = userItems[table];
  if (facts === null) return;
  const search = facts.search(userId);
  const common = { TableName: names[table], ConsistentRead: true };
  const pages =
    'query' in search
      ? paginateQuery(
          { client },
          {
            ...common,
            KeyConditionExpression: Object.keys(search.query)
              .map((_, at) => `#k${at} = :k${at}`)
              .join(' AND '),
            ExpressionAttributeNames: Object.fromEntries(
              Object.keys(search.query).map((name, at) => [`#k${at}`, name]),
            ),
            ExpressionAttributeValues: Object.fromEntries(
              Object.values(search.query).map((value, at) => [`:k${at}`, value]),
            ),
          },
        )
      : paginateScan(
          { client },
          {
            ...common,
            FilterExpression: search.filter,
            ExpressionAttributeNames: search.names,
            ExpressionAttributeValues: search.values,
          },
        );
  for await (const { Items = [] } of pages) if (Items.length > 0) yield Items;
}

/** Erases the user's items of a table. Returns how many there were. */
export async function eraseItems(data: StackData, table: TableName, of: Erasure): Promise<number> {
  const { partitionKey, sortKey }: TableDescription = tables[table];
  let count = 0;
  for await (const items of findItems(data, table, of.userId)) {
    const keys = items.map((item) => ({ [partitionKey]: item[partitionKey], [sortKey]: item[sortKey] }));
    if (userItems[table]?.erase) await userItems[table].erase(data, items, of);
    else await batchDelete(data.client, data.tables[table], keys);
    count += items.length;
  }
  return count;
}
