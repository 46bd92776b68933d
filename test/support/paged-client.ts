import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { interceptedClient } from './intercepted-client.ts';

/** The client, with at most `limit` items in each answer of a query. */
export function pagedClient(client: DynamoDBDocumentClient, limit: number): DynamoDBDocumentClient {
  return interceptedClient(client, ({ name, input, send }) => {
    if (name === 'QueryCommand') input.Limit = Math.min(Number(input.Limit ?? limit), limit);
    return send();
  });
}
