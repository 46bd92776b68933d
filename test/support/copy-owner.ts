import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { TableNames } from '../../functions/tables.ts';
import { itemsOfOwner } from './items-of-owner.ts';
import { writeAll } from './load-list.ts';

/**
 * The function that gives a new owner all that this one has now, and returns the new one's id. It
 * costs a fraction of writing the same rows again, which take transactions.
 */
export async function copiesOf(
  client: DynamoDBDocumentClient,
  { Batches, Jobs, Columns }: TableNames<'Batches' | 'Jobs' | 'Columns'>,
  userId: string,
): Promise<(user_id: string) => Promise<string>> {
  const names = [Batches, Jobs, Columns];
  const items = await Promise.all(names.map((table) => itemsOfOwner(client, table, userId)));
  return async (user_id) => {
    const writes = names.flatMap((table, at) => items[at]!.map((item) => [table, { ...item, user_id }] as const));
    await writeAll(client, writes);
    return user_id;
  };
}
