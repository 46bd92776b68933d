/** DynamoDB's reads with their loose ends tied: every page followed, every unprocessed key asked for again. */

import { setTimeout as delay } from 'node:timers/promises';
import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  type NativeAttributeValue,
  QueryCommand,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { TooBusy } from '../../errors.ts';

export type Item = Record<string, NativeAttributeValue>;

/** Part of an owner's rows: those whose sort key lies between two values, both inclusive, or starts with a text; or all. */
export interface KeyRange {
  readonly table: string;
  readonly index?: string;
  /** Attributes of the partition key and their values. */
  readonly partition: Readonly<Record<string, string>>;
  readonly sortKey: string;
  readonly range:
    | { readonly between: readonly [string | number, string | number] }
    | { readonly startsWith: string }
    | 'all';
  readonly consistent: boolean;
}

export interface TableReads {
  get(table: string, key: Item, consistent: boolean): Promise<Item | undefined>;
  /** The items of the first page, in key order, and whether there are more. */
  firstPage(range: KeyRange): Promise<{ items: Item[]; more: boolean }>;
  /** All items, in key order. */
  all(range: KeyRange): Promise<Item[]>;
  /** The last `count` items or, where there are fewer, all, in descending key order. */
  last(range: KeyRange, count: number): Promise<Item[]>;
  /** Those of at most 100 keys that exist, in no order. Throws TooBusy when keys stay unprocessed through all attempts. */
  batchGet(table: string, keys: readonly Item[], consistent: boolean): Promise<Item[]>;
}

const mostBatchAttempts = 6;

/** `pageLimit`: at most so many items a page; tests force many pages with it. */
export function tableReads(client: DynamoDBDocumentClient, pageLimit?: number): TableReads {
  const queryPage = async (range: KeyRange, start?: Item, lastOnes?: number) => {
    const limit = Math.min(lastOnes ?? Infinity, pageLimit ?? Infinity);
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        ...queryInput(range),
        ...(start !== undefined && { ExclusiveStartKey: start }),
        ...(limit !== Infinity && { Limit: limit }),
        ...(lastOnes !== undefined && { ScanIndexForward: false }),
      }),
    );
    return { items: Items, next: LastEvaluatedKey };
  };
  return {
    async get(table, key, consistent) {
      const { Item } = await client.send(new GetCommand({ TableName: table, Key: key, ConsistentRead: consistent }));
      return Item;
    },
    async firstPage(range) {
      const { items, next } = await queryPage(range);
      return { items, more: next !== undefined };
    },
    async all(range) {
      const items: Item[] = [];
      let start: Item | undefined;
      do {
        const page = await queryPage(range, start);
        items.push(...page.items);
        start = page.next;
      } while (start !== undefined);
      return items;
    },
    async last(range, count) {
      const items: Item[] = [];
      let start: Item | undefined;
      do {
        const page = await queryPage(range, start, count - items.length);
        items.push(...page.items);
        start = page.next;
      } while (start !== undefined && items.length < count);
      return items;
    },
    async batchGet(table, keys, consistent) {
      const items: Item[] = [];
      let pending: readonly Item[] = keys;
      for (let attempt = 0; pending.length > 0; attempt++) {
        if (attempt === mostBatchAttempts) throw new TooBusy('DynamoDB left keys unprocessed through all attempts.');
        if (attempt > 0) await delay(Math.random() * 50 * 2 ** attempt);
        const { Responses, UnprocessedKeys } = await client.send(
          new BatchGetCommand({ RequestItems: { [table]: { Keys: [...pending], ConsistentRead: consistent } } }),
        );
        items.push(...(Responses?.[table] ?? []));
        pending = UnprocessedKeys?.[table]?.Keys ?? [];
      }
      return items;
    },
  };
}

function queryInput({ table, index, partition, sortKey, range, consistent }: KeyRange): QueryCommandInput {
  const names: Record<string, string> = {};
  const values: Item = {};
  const equalities = Object.entries(partition).map(([name, value], place) => {
    names[`#part${place}`] = name;
    values[`:part${place}`] = value;
    return `#part${place} = :part${place}`;
  });
  const bounds: string[] = [];
  if (range !== 'all') {
    names['#sort'] = sortKey;
    if ('startsWith' in range) {
      values[':start'] = range.startsWith;
      bounds.push('begins_with(#sort, :start)');
    } else {
      [values[':from'], values[':to']] = range.between;
      bounds.push('#sort BETWEEN :from AND :to');
    }
  }
  return {
    TableName: table,
    ...(index !== undefined && { IndexName: index }),
    KeyConditionExpression: [...equalities, ...bounds].join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
    // A global secondary index has no consistent reads.
    ConsistentRead: consistent && index === undefined,
  };
}
