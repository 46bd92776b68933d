/**
 * DynamoDB's reads without their loose ends: every page is followed, every unprocessed key is asked
 * for again.
 */

import {
  BatchGetCommand,
  type BatchGetCommandInput,
  GetCommand,
  type NativeAttributeValue,
  QueryCommand,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb';
import type * as z from 'zod/mini';
import { attributesOf, storedRow } from '../../schemas/stored-row.ts';
import type { TableName } from '../../tables.ts';
import { translateErrors } from './aws-errors.ts';
import type { Db } from './db.ts';
import { untilProcessed } from './retry.ts';

export type Item = Record<string, NativeAttributeValue>;

interface TableRead<Table extends TableName> {
  readonly table: Table;
  /** Strongly consistent, at double the price. */
  readonly consistent: boolean;
  /** Only these attributes are sent. DynamoDB charges for the whole item all the same. */
  readonly attributes?: readonly string[];
}

interface KeyRead<Table extends TableName = TableName> extends TableRead<Table> {
  readonly key: Item;
}

interface KeysRead<Table extends TableName = TableName> extends TableRead<Table> {
  readonly keys: readonly Item[];
}

interface RowRead<Table extends TableName, Shape extends z.core.$ZodShape> {
  readonly table: Table;
  readonly key: Item;
  readonly schema: z.ZodMiniObject<Shape>;
}

/** The item with this key; undefined when there is none. */
export async function getItem<Used extends TableName>(
  { client, tables }: Db<Used>,
  { table, key, consistent, attributes }: KeyRead<NoInfer<Used>>,
): Promise<Item | undefined> {
  const command = new GetCommand({
    TableName: tables[table],
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
export async function getRow<Used extends TableName, Shape extends z.core.$ZodShape>(
  db: Db<Used>,
  { table, key, schema }: RowRead<NoInfer<Used>, Shape>,
): Promise<z.output<z.ZodMiniObject<Shape>> | undefined> {
  const item = await getItem(db, { table, key, consistent: true, attributes: attributesOf(schema) });
  return item && storedRow(schema, item);
}

/** What BatchGetItem takes. */
const maxKeys = 100;

/** Calls that go side by side: a function has 50 connections, and other reads need some as well. */
const parallelCalls = 10;

/** The items with these keys, as far as they exist, in no order. As `batchGetAll`. */
export async function batchGet<Used extends TableName>(
  db: Db<Used>,
  { table, keys, ...options }: KeysRead<NoInfer<Used>>,
): Promise<Item[]> {
  const named = keys.map((key) => ({ table, key }));
  const items = await getAll(db, named, options);
  return items.get(table) ?? [];
}

/**
 * By table, the items with these keys, as far as they exist, in no order. Throws TooBusy when keys
 * stay unprocessed through 6 attempts (about 1.5 s). 100 keys go in one call, whatever their
 * tables, and ten calls side by side.
 */
export function batchGetAll<Used extends TableName>(
  db: Db<Used>,
  keys: Readonly<Partial<Record<NoInfer<Used>, readonly Item[]>>>,
  options: Pick<KeysRead, 'consistent' | 'attributes'>,
): Promise<Map<Used, Item[]>> {
  const all = (Object.entries(keys) as [Used, readonly Item[]][]).flatMap(([table, ofTable]) =>
    ofTable.map((key) => ({ table, key })),
  );
  return getAll(db, all, options);
}

interface TableKey<Table> {
  readonly table: Table;
  readonly key: Item;
}

async function getAll<Used extends TableName>(
  db: Db<Used>,
  keys: readonly TableKey<NoInfer<Used>>[],
  options: Pick<KeysRead, 'consistent' | 'attributes'>,
): Promise<Map<Used, Item[]>> {
  const parts = Array.from({ length: Math.ceil(keys.length / maxKeys) }, (_, part) => part);
  const items = new Map<Used, Item[]>();
  while (parts.length > 0) {
    const together = parts
      .splice(0, parallelCalls)
      .map((part) => getSome(db, keys.slice(part * maxKeys, (part + 1) * maxKeys), options));
    for (const { table, found } of (await Promise.all(together)).flat()) {
      items.set(table, (items.get(table) ?? []).concat(found));
    }
  }
  return items;
}

async function getSome<Used extends TableName>(
  { client, tables, clock }: Db<Used>,
  keys: readonly TableKey<NoInfer<Used>>[],
  { consistent, attributes }: Pick<KeysRead, 'consistent' | 'attributes'>,
): Promise<{ readonly table: Used; readonly found: Item[] }[]> {
  const named = new Map(keys.map(({ table }) => [tables[table], table]));
  const items: { readonly table: Used; readonly found: Item[] }[] = [];
  let pending = keys.map(({ table, key }) => ({ name: tables[table], key }));
  await untilProcessed(clock, 6, async () => {
    const RequestItems: NonNullable<BatchGetCommandInput['RequestItems']> = {};
    for (const { name, key } of pending) {
      RequestItems[name] ??= { Keys: [], ConsistentRead: consistent, ...projection(attributes) };
      RequestItems[name].Keys!.push(key);
    }
    const { Responses, UnprocessedKeys } = await translateErrors(client.send(new BatchGetCommand({ RequestItems })));
    items.push(...Object.entries(Responses ?? {}).map(([name, found]) => ({ table: named.get(name)!, found })));
    pending = Object.entries(UnprocessedKeys ?? {}).flatMap(([name, { Keys }]) =>
      (Keys ?? []).map((key) => ({ name, key })),
    );
    return pending.length;
  });
  return items;
}

/**
 * Part of an owner's rows: those whose sort key lies between two values, both inclusive, or starts
 * with a text; or all.
 */
export interface KeyRange<Table extends TableName = TableName> {
  readonly table: Table;
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
  /** Items a page, at most. */
  readonly pageLimit?: number | undefined;
}

/** The items of the first page, in key order, and whether there are more. */
export async function queryFirstPage<Used extends TableName>(
  db: Db<Used>,
  range: KeyRange<NoInfer<Used>>,
): Promise<{ items: Item[]; more: boolean }> {
  const { items, next } = await queryPage(db.client, queryInput(db, range));
  return { items, more: next !== undefined };
}

/** All items, in key order. */
export function queryAll<Used extends TableName>(db: Db<Used>, range: KeyRange<NoInfer<Used>>): Promise<Item[]> {
  return queryPages(db.client, queryInput(db, range), Infinity);
}

/** The first `count` items, in key order; all of them where there are fewer. */
export function queryFirst<Used extends TableName>(
  db: Db<Used>,
  range: KeyRange<NoInfer<Used>>,
  count: number,
): Promise<Item[]> {
  return queryPages(db.client, queryInput(db, range), count);
}

/** The last `count` items, in descending key order; all of them where there are fewer. */
export function queryLast<Used extends TableName>(
  db: Db<Used>,
  range: KeyRange<NoInfer<Used>>,
  count: number,
): Promise<Item[]> {
  return queryPages(db.client, { ...queryInput(db, range), ScanIndexForward: false }, count);
}

/** The first `count` items in the order of the query. */
async function queryPages(client: Db<never>['client'], query: QueryCommandInput, count: number): Promise<Item[]> {
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

async function queryPage(client: Db<never>['client'], query: QueryCommandInput) {
  const { Items = [], LastEvaluatedKey } = await translateErrors(client.send(new QueryCommand(query)));
  return { items: Items as Item[], next: LastEvaluatedKey };
}

function queryInput<Used extends TableName>(
  { tables }: Db<Used>,
  { table, index, partition, sortKey, range, consistent, attributes, pageLimit }: KeyRange<NoInfer<Used>>,
): QueryCommandInput {
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
    TableName: tables[table],
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
