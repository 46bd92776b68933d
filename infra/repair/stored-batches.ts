/** The stored batches that a repair compares with something else. */

import { paginateQuery, paginateScan } from '@aws-sdk/lib-dynamodb';
import type { Db } from '../../functions/data/dynamodb/db.ts';
import type { Item } from '../../functions/data/dynamodb/reads.ts';
import { BatchRow } from '../../functions/schemas/batch.ts';

interface Batches {
  readonly db: Db<'Batches'>;
  /** Only this user's. */
  readonly userId?: string | undefined;
  /** A filter expression. */
  readonly condition: string;
}

/** The items of batches that meet a condition, strongly consistent. It reads all, to find them. */
export async function* readBatchItems({ db, userId, condition }: Batches): AsyncGenerator<Item> {
  const { client, tables } = db;
  const input = { TableName: tables.Batches, FilterExpression: condition, ConsistentRead: true };
  const ofUser = { KeyConditionExpression: 'user_id = :user', ExpressionAttributeValues: { ':user': userId } };
  const pages =
    userId === undefined ? paginateScan({ client }, input) : paginateQuery({ client }, { ...input, ...ofUser });
  for await (const { Items = [] } of pages) yield* Items;
}

/** Undefined where the row breaks its schema. */
export function readBatch(item: Item): BatchRow | undefined {
  return BatchRow().safeParse(item).data;
}
