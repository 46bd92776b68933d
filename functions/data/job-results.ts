import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import type { TableNames } from '../tables.ts';

/** Where the results of jobs are. */
export function jobResults(client: DynamoDBDocumentClient, tables: TableNames<'Jobs'>) {
  return {
    /** The key of this user's job's results; null while it has none; undefined when the user has no such job. 1 read unit. */
    async keyOf(userId: string, jobId: string): Promise<string | null | undefined> {
      const { Item } = await client.send(
        new GetCommand({
          TableName: tables.Jobs,
          Key: { user_id: userId, id: jobId },
          ProjectionExpression: 'results_key',
          ConsistentRead: true,
        }),
      );
      return Item === undefined ? undefined : (Item.results_key ?? null);
    },
  };
}
