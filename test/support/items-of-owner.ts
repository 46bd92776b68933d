import {
  type DynamoDBDocumentClient,
  paginateQuery,
  paginateScan,
  type QueryCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import { usagePrefix } from '../../functions/data/limits/usage-sums.ts';

/** All items of an owner in a table, as they are now. */
export async function itemsOfOwner(
  client: DynamoDBDocumentClient,
  table: string,
  userId: string,
): Promise<NonNullable<QueryCommandOutput['Items']>> {
  const items: NonNullable<QueryCommandOutput['Items']> = [];
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
export async function contributorItems(
  client: DynamoDBDocumentClient,
  table: string,
  userId: string,
): Promise<NonNullable<QueryCommandOutput['Items']>> {
  const items: NonNullable<QueryCommandOutput['Items']> = [];
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table, ConsistentRead: true })) {
    items.push(...Items.filter(({ user_id }) => user_id === userId));
  }
  return items;
}

/** The items of the table of usage that are of this user, in all months. */
export async function usageItems(
  client: DynamoDBDocumentClient,
  table: string,
  userId: string,
): Promise<NonNullable<QueryCommandOutput['Items']>> {
  const items: NonNullable<QueryCommandOutput['Items']> = [];
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table, ConsistentRead: true })) {
    items.push(...Items.filter(({ key }) => key.startsWith(usagePrefix(userId))));
  }
  return items;
}
