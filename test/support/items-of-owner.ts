import {
  type DynamoDBDocumentClient,
  paginateQuery,
  paginateScan,
  type QueryCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import { usagePrefix } from '../../functions/data/limits/usage-sums.ts';

/** All items of an owner in a table, as they are now. */
export async function itemsOfOwner(client: DynamoDBDocumentClient, table: string, userId: string): Promise<Items> {
  const items: Items = [];
  const query = {
    TableName: table,
    KeyConditionExpression: 'user_id = :user',
    ExpressionAttributeValues: { ':user': userId },
    ConsistentRead: true,
  };
  for await (const { Items = [] } of paginateQuery({ client }, query)) items.push(...Items);
  return items;
}

/** The items of a user in the table of contributors: one for each project that knows the user. */
export function contributorItems(client: DynamoDBDocumentClient, table: string, userId: string) {
  return scannedItems(client, table, ({ user_id }) => user_id === userId);
}

/** The items of the table of usage that are of this user, in all months. */
export function usageItems(client: DynamoDBDocumentClient, table: string, userId: string) {
  return scannedItems(client, table, ({ key }) => key.startsWith(usagePrefix(userId)));
}

type Items = NonNullable<QueryCommandOutput['Items']>;

async function scannedItems(
  client: DynamoDBDocumentClient,
  table: string,
  isWanted: (item: Items[number]) => boolean,
): Promise<Items> {
  const items: Items = [];
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table, ConsistentRead: true })) {
    items.push(...Items.filter(isWanted));
  }
  return items;
}
