import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient, TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { AlreadyExists, CorruptData } from '../../errors.ts';
import type { TableNames } from '../../tables.ts';
import { type BlockEdit, blockEdits, emptyHead, Head, headKey } from '../lists/column-items.ts';
import type { ListDescription } from '../lists/list-description.ts';
import { type Item, tableReads } from '../lists/table-reads.ts';
import { blockKeys, type Change, type EventMark, type HeadChange, type RowChange } from './change.ts';

type LifecycleTables = TableNames<'Batches' | 'Jobs' | 'Columns'>;
type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** How long an event is remembered: longer than any queue keeps a message (14 days). */
const markSeconds = 15 * 24 * 3600;

/**
 * The transaction that makes the change: the rows, the heads, and every block of columns and sets that differs afterwards, each
 * conditional on being what was read; undefined when the change's event has been carried out before. Reads the blocks, strongly
 * consistent, in one call. Throws AlreadyExists when another event had the same id.
 */
export async function transactionOf(
  client: DynamoDBDocumentClient,
  tables: LifecycleTables,
  userId: string,
  change: Change,
  now: number,
): Promise<TransactWriteCommandInput | undefined> {
  const keys = new Set(change.rows.flatMap(blockKeys));
  const known = new Map(change.heads.map((head) => [head.list.key, head.after]));
  const unknown = new Set(change.rows.filter(({ list }) => !known.has(list.key)).map(({ list }) => headKey(list)));
  const items = await readColumnItems(client, tables, userId, [
    ...(keys.size > 0 ? unknown : []),
    ...keys,
    ...(change.mark === undefined ? [] : [markKey(change.mark)]),
  ]);
  if (change.mark !== undefined) {
    const marked = items.get(markKey(change.mark));
    if (marked?.digest === change.mark.digest) return undefined;
    if (marked !== undefined) throw new AlreadyExists(`Another event had the id ${change.mark.id}.`);
  }
  const headOf = (list: ListDescription) => known.get(list.key) ?? headOfItem(items.get(headKey(list))) ?? emptyHead;
  const edits = change.rows.flatMap(({ list, before, after }) =>
    keys.size > 0 ? blockEdits(list, before, after, headOf(list).dictionaries) : [],
  );
  return {
    ClientRequestToken: randomUUID(),
    TransactItems: [
      ...change.rows.map((row) => rowWrite(tables, row)),
      ...change.heads.map((head) => headWrite(tables, userId, head)),
      ...[...Map.groupBy(edits, (edit) => edit.key)].flatMap(([key, ofBlock]) =>
        blockWrite(tables, userId, key, ofBlock, items.get(key)?.v),
      ),
      ...(change.mark === undefined ? [] : [markWrite(tables, userId, change.mark, now)]),
    ],
  };
}

/** The items of the Columns table that exist, by their key. */
export async function readColumnItems(
  client: DynamoDBDocumentClient,
  tables: LifecycleTables,
  userId: string,
  keys: readonly string[],
): Promise<Map<string, Item>> {
  const items = await tableReads(client).batchGet(
    tables.Columns,
    keys.map((key) => ({ user_id: userId, key })),
    true,
  );
  return new Map(items.map((item) => [String(item.key), item]));
}

export function headOfItem(item: Item | undefined): Head | undefined {
  if (item === undefined) return undefined;
  const head = Head.safeParse(item);
  if (!head.success) throw new CorruptData(`The head ${String(item.key)} of a user is corrupt: ${head.error.message}`);
  return head.data;
}

function rowWrite(tables: LifecycleTables, { list, before, after }: RowChange): Write {
  return {
    Put: {
      TableName: tables[list.table],
      Item: after,
      ...(before === undefined
        ? { ConditionExpression: 'attribute_not_exists(id)' }
        : { ConditionExpression: 'rev = :rev', ExpressionAttributeValues: { ':rev': before.rev } }),
    },
  };
}

function headWrite(tables: LifecycleTables, userId: string, { list, before, after }: HeadChange): Write {
  return {
    Put: {
      TableName: tables.Columns,
      Item: { user_id: userId, key: headKey(list), ...after },
      ...(before === undefined
        ? absent
        : { ConditionExpression: 'next_seq = :next', ExpressionAttributeValues: { ':next': before.next_seq } }),
    },
  };
}

const absent = { ConditionExpression: 'attribute_not_exists(#key)', ExpressionAttributeNames: { '#key': 'key' } };

function blockWrite(
  tables: LifecycleTables,
  userId: string,
  key: string,
  edits: readonly BlockEdit[],
  old: Uint8Array | undefined,
): Write[] {
  const block = edits.reduce<Uint8Array | undefined>((bytes, edit) => edit.apply(bytes), old);
  const condition =
    old === undefined ? absent : { ConditionExpression: 'v = :old', ExpressionAttributeValues: { ':old': old } };
  if (block !== undefined) {
    return [{ Put: { TableName: tables.Columns, Item: { user_id: userId, key, v: block }, ...condition } }];
  }
  return old === undefined
    ? []
    : [{ Delete: { TableName: tables.Columns, Key: { user_id: userId, key }, ...condition } }];
}

function markWrite(tables: LifecycleTables, userId: string, mark: EventMark, now: number): Write {
  return {
    Put: {
      TableName: tables.Columns,
      Item: {
        user_id: userId,
        key: markKey(mark),
        digest: mark.digest,
        expires_at: Math.floor(now / 1000) + markSeconds,
      },
      ...absent,
    },
  };
}

function markKey(mark: EventMark): string {
  return `event#${mark.id}`;
}
