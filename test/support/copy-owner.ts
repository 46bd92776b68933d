import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { usageKeyOf, usagePrefix } from '../../functions/data/limits/usage-sums.ts';
import type { TableNames } from '../../functions/tables.ts';
import { contributorItems, itemsOfOwner, usageItems } from './items-of-owner.ts';
import { writeAll } from './load-list.ts';

/**
 * The function that gives a new owner all that this one has now, and returns the new one's id. It
 * costs a fraction of writing the same rows again, which take transactions.
 */
export async function copiesOf(
  client: DynamoDBDocumentClient,
  { Batches, Jobs, Columns, Usage, Contributors }: TableNames,
  userId: string,
): Promise<(user_id: string) => Promise<string>> {
  const names = [Batches, Jobs, Columns, Contributors];
  const ofTable = (table: string) => (table === Contributors ? contributorItems : itemsOfOwner)(client, table, userId);
  const items = await Promise.all(names.map(ofTable));
  const usage = await usageItems(client, Usage, userId);
  return async (user_id) => {
    const keyOf = (key: string) => usagePrefix(user_id) + key.slice(usagePrefix(userId).length);
    const writes = names.flatMap((table, at) => items[at]!.map((item) => [table, { ...item, user_id }] as const));
    const used = usage.map((item) => [Usage, { ...item, ...usageKeyOf(keyOf(item.key)) }] as const);
    await writeAll(client, [...writes, ...used]);
    return user_id;
  };
}
