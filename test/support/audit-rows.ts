import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../functions/data/dynamodb/reads.ts';
import type { TableNames } from '../../functions/tables.ts';

/** The rows of the audit trail of this month, oldest first. */
export async function auditRows(client: DynamoDBDocumentClient, names: TableNames<'Audit'>): Promise<Item[]> {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: names.Audit,
      KeyConditionExpression: '#month = :month',
      ExpressionAttributeNames: { '#month': 'month' },
      ExpressionAttributeValues: { ':month': new Date().toISOString().slice(0, 7) },
      ConsistentRead: true,
    }),
  );
  return Items;
}
