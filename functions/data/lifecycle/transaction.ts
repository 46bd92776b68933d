import { randomUUID } from 'node:crypto';
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import type { BatchRow } from '../../schemas/batch.ts';
import type { JobRow } from '../../schemas/job.ts';
import type { TableNames } from '../../tables.ts';
import { type BlockEdit, blockEdits } from '../columns/column-items.ts';
import { type Head, headKey } from '../columns/head.ts';
import type { ListDescription } from '../columns/list-description.ts';
import type { OwnerLists } from '../columns/lists.ts';
import type { Draft, EventMark } from './draft.ts';

export type LifecycleTables = TableNames<'Batches' | 'Jobs' | 'Columns'>;

type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

/** How long an event is remembered: longer than any queue keeps a message (14 days). */
const markSeconds = 15 * 24 * 3600;

/**
 * The transaction that makes the draft true: its rows, the heads, and every block of columns and sets that differs afterwards, each
 * conditional on being what was read. `blocks` are those stored of the draft's blocks, `now` milliseconds since 1970.
 */
export function transactionOf(
  lists: OwnerLists,
  tables: LifecycleTables,
  userId: string,
  draft: Draft,
  blocks: ReadonlyMap<string, Uint8Array>,
  now: number,
): TransactWriteCommandInput {
  const { stored } = draft;
  const edits = [
    ...[...draft.batches.values()].flatMap((row) =>
      blockEdits(lists.batch, stored.batches.get(row.id), row, draft.heads.batch.dictionaries),
    ),
    ...[...draft.jobs.values()].flatMap((row) =>
      blockEdits(lists.job, stored.jobs.get(row.id), row, draft.heads.job.dictionaries),
    ),
  ];
  return {
    ClientRequestToken: randomUUID(),
    TransactItems: [
      ...Array.from(draft.batches.values(), (row) => rowWrite(tables.Batches, stored.batches.get(row.id), row)),
      ...Array.from(draft.jobs.values(), (row) => rowWrite(tables.Jobs, stored.jobs.get(row.id), row)),
      ...headWrites(tables, userId, lists.batch, stored.heads.batch, draft.heads.batch),
      ...headWrites(tables, userId, lists.job, stored.heads.job, draft.heads.job),
      ...[...Map.groupBy(edits, (edit) => edit.key)].flatMap(([key, ofBlock]) =>
        blockWrites(tables, userId, key, ofBlock, blocks.get(key)),
      ),
      ...draft.marks.map((mark) => markWrite(tables, userId, mark, now)),
    ],
  };
}

function rowWrite(table: string, before: BatchRow | JobRow | undefined, after: BatchRow | JobRow): Write {
  return {
    Put: {
      TableName: table,
      Item: after,
      ...(before === undefined
        ? { ConditionExpression: 'attribute_not_exists(id)' }
        : { ConditionExpression: 'rev = :rev', ExpressionAttributeValues: { ':rev': before.rev } }),
    },
  };
}

const absent = { ConditionExpression: 'attribute_not_exists(#key)', ExpressionAttributeNames: { '#key': 'key' } };

function headWrites(
  tables: LifecycleTables,
  userId: string,
  list: ListDescription,
  before: Head | undefined,
  after: Head,
): Write[] {
  if (after.next_seq === (before?.next_seq ?? 0)) return [];
  const condition =
    before === undefined
      ? absent
      : { ConditionExpression: 'next_seq = :next', ExpressionAttributeValues: { ':next': before.next_seq } };
  const item = { user_id: userId, key: headKey(list), ...after };
  return [{ Put: { TableName: tables.Columns, Item: item, ...condition } }];
}

function blockWrites(
  tables: LifecycleTables,
  userId: string,
  key: string,
  edits: readonly BlockEdit[],
  old: Uint8Array | undefined,
): Write[] {
  const block = edits.reduce<Uint8Array | undefined>((bytes, edit) => edit.apply(bytes), old);
  const TableName = tables.Columns;
  const condition =
    old === undefined ? absent : { ConditionExpression: 'v = :old', ExpressionAttributeValues: { ':old': old } };
  if (block !== undefined) return [{ Put: { TableName, Item: { user_id: userId, key, v: block }, ...condition } }];
  return old === undefined ? [] : [{ Delete: { TableName, Key: { user_id: userId, key }, ...condition } }];
}

function markWrite(tables: LifecycleTables, userId: string, { id, digest }: EventMark, now: number): Write {
  const expires_at = Math.floor(now / 1000) + markSeconds;
  const item = { user_id: userId, key: markKey(id), digest, expires_at };
  return { Put: { TableName: tables.Columns, Item: item, ...absent } };
}

/** Key of the item that remembers an event. */
export function markKey(eventId: string): string {
  return `event#${eventId}`;
}
