/**
 * DynamoDB's reads without their loose ends: every page is followed, every unprocessed key is asked
 * for again.
 */

import {
  BatchGetCommand,
  type BatchGetCommandInput,
  type DynamoDBDocumentClient,
  GetCommand,
  type NativeAttributeValue,
  QueryCommand,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type * as z from 'zod/mini';
import { translateErrors } from './aws-errors.ts';
import { untilProcessed } from './retry.ts';
import { attributesOf, storedRow } from './stored-row.ts';

export type Item = Record<string, NativeAttributeValue>;

interface TableRead {
  readonly table: string;
  /** Strongly consistent, at double the price. */
  readonly consistent: boolean;
  /** Only these attributes are sent. DynamoDB charges for the whole item all the same. */
  readonly attributes?: readonly string[];
}

export interface KeyRead extends TableRead {
  readonly key: Item;
}

export interface KeysRead extends TableRead {
  readonly keys: readonly Item[];
}

export interface RowRead<Shape extends z.core.$ZodShape> {
  readonly table: string;
  readonly key: Item;
  readonly schema: z.ZodMiniObject<Shape>;
}

/** The item with this key; undefined when there is none. */
export async function getItem(
  client: DynamoDBDocumentClient,
  { table, key, consistent, attributes }: KeyRead,
): Promise<Item | undefined> {
  const command = new GetCommand({
    TableName: table,
    Key: key,
    ConsistentRead: consistent,
    ...projection(attributes),
  });
  return (await translateErrors(client.send(command))).Item;
}

/**
 * One row as the schema reads it (see storedRow), and only the attributes that the schema names;
 * undefined when there is no such row. Strongly consistent: 1 read unit for each 4 KB of the row.
 */
export async function getRow<Shape extends z.core.$ZodShape>(
  client: DynamoDBDocumentClient,
  { table, key, schema }: RowRead<Shape>,
): Promise<z.output<z.ZodMiniObject<Shape>> | undefined> {
  const item = await getItem(client, { table, key, consistent: true, attributes: attributesOf(schema) });
  return item && storedRow(schema, item);
}

/** What BatchGetItem takes. */
const maxKeys = 100;

/** So many calls go side by side: a function has 50 connections, and others want some as well. */
const parallelCalls = 10;

/** The items with these keys, as far as they exist, in no order. As `batchGetAll`. */
export async function batchGet(client: DynamoDBDocumentClient, { table, keys, ...options }: KeysRead): Promise<Item[]> {
  return (await batchGetAll(client, { [table]: keys }, options)).get(table) ?? [];
}

/**
 * By table, the items with these keys, as far as they exist, in no order. Throws TooBusy when keys
 * stay unprocessed through 6 attempts (about 1.5 s). 100 keys go in one call, whatever their
 * tables, and ten calls side by side.
 */
export async function batchGetAll(
  client: DynamoDBDocumentClient,
  keys: Readonly<Record<string, readonly Item[]>>,
  options: Pick<KeysRead, 'consistent' | 'attributes'>,
): Promise<Map<string, Item[]>> {
  const all = Object.entries(keys).flatMap(([table, ofTable]) => ofTable.map((key) => ({ table, key })));
  const parts = Array.from({ length: Math.ceil(all.length / maxKeys) }, (_, part) => part);
  const items = new Map<string, Item[]>();
  while (parts.length > 0) {
    const together = parts
      .splice(0, parallelCalls)
      .map((part) => getSome(client, all.slice(part * maxKeys, (part + 1) * maxKeys), options));
    for (const { table, found } of (await Promise.all(together)).flat()) {
      items.set(table, (items.get(table) ?? []).concat(found));
    }
  }
  return items;
}

interface TableKey {
  readonly table: string;
  readonly key: Item;
}

async function getSome(
  client: DynamoDBDocumentClient,
  keys: readonly TableKey[],
  { consistent, attributes }: Pick<KeysRead, 'consistent' | 'attributes'>,
): Promise<{ readonly table: string; readonly found: Item[] }[]> {
  const items: { readonly table: string; readonly found: Item[] }[] = [];
  let pending = keys;
  await untilProcessed(6, async () => {
    const RequestItems: NonNullable<BatchGetCommandInput['RequestItems']> = {};
    for (const { table, key } of pending) {
      RequestItems[table] ??= { Keys: [], ConsistentRead: consistent, ...projection(attributes) };
      RequestItems[table].Keys!.push(key);
    }
    const { Responses, UnprocessedKeys } = await translateErrors(client.send(new BatchGetCommand({ RequestItems })));
    items.push(...Object.entries(Responses ?? {}).map(([table, found]) => ({ table, found })));
    pending = Object.entries(UnprocessedKeys ?? {}).flatMap(([table, { Keys }]) =>
      (Keys ?? []).map((key) => ({ table, key })),
    );
    return pending.length;
  });
  return items;
}

/**
 * Part of an owner's rows: those whose sort key lies between two values, both inclusive, or starts
 * with a text; or all.
 */
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
  /** Only these attributes are sent. DynamoDB charges for the whole item all the same. */
  readonly attributes?: readonly string[];
  /** At most so many items a page. */
  readonly pageLimit?: number | undefined;
}

/** The items of the first page, in key order, and whether there are more. */
export async function queryFirstPage(
  client: DynamoDBDocumentClient,
  range: KeyRange,
): Promise<{ items: Item[]; more: boolean }> {
  const { items, next } = await queryPage(client, queryInput(range));
  return { items, more: next !== undefined };
}

/** All items, in key order. */
export function queryAll(client: DynamoDBDocumentClient, range: KeyRange): Promise<Item[]> {
  return queryPages(client, queryInput(range), Infinity);
}

/** The first `count` items, in key order; all of them where there are fewer. */
export function queryFirst(client: DynamoDBDocumentClient, range: KeyRange, count: number): Promise<Item[]> {
  return queryPages(client, queryInput(range), count);
}

/** The last `count` items, in descending key order; all of them where there are fewer. */
export function queryLast(client: DynamoDBDocumentClient, range: KeyRange, count: number): Promise<Item[]> {
  return queryPages(client, { ...queryInput(range), ScanIndexForward: false }, count);
}

/** The first `count` items in the order of the query. */
async function queryPages(client: DynamoDBDocumentClient, query: QueryCommandInput, count: number): Promise<Item[]> {
  const items: Item[] = [];
  let start: Item | undefined;
  do {
    const limit = Math.min(query.Limit ?? Infinity, count - items.length);
    const page = await queryPage(client, {
      ...query,
      ...(limit < 2 ** 31 && { Limit: limit }),
      ...(start !== undefined && { ExclusiveStartKey: start }),
    });
    items.push(...page.items);
    start = page.next;
  } while (start !== undefined && items.length < count);
  return items;
}

async function queryPage(client: DynamoDBDocumentClient, query: QueryCommandInput) {
  const { Items = [], LastEvaluatedKey } = await translateErrors(client.send(new QueryCommand(query)));
  return { items: Items as Item[], next: LastEvaluatedKey };
}

function queryInput({
  table,
  index,
  partition,
  sortKey,
  range,
  consistent,
  attributes,
  pageLimit,
}: KeyRange): QueryCommandInput {
  const { ExpressionAttributeNames: names = {}, ...projected } = projection(attributes);
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
    ...projected,
    KeyConditionExpression: [...equalities, ...bounds].join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
    // A global secondary index has no consistent reads.
    ConsistentRead: consistent && index === undefined,
    ...(pageLimit !== undefined && { Limit: pageLimit }),
  };
}

/**
 * Asks for these attributes alone. Their names go by placeholders, because DynamoDB reserves many
 * words.
 */
function projection(
  attributes: readonly string[] | undefined,
): Pick<QueryCommandInput, 'ProjectionExpression' | 'ExpressionAttributeNames'> {
  if (attributes === undefined) return {};
  return {
    ProjectionExpression: attributes.map((_, place) => `#a${place}`).join(),
    ExpressionAttributeNames: Object.fromEntries(attributes.map((name, place) => [`#a${place}`, name])),
  };
}
