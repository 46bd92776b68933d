import { type DynamoDBDocumentClient, paginateQuery, type QueryCommandOutput } from '@aws-sdk/lib-dynamodb';

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
