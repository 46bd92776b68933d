import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { interceptedClient } from './intercepted-client.ts';
import { pagedClient } from './paged-client.ts';

/**
 * The client, with each answer kept: for tests in which no row changes, and most queries read the
 * same blocks. Pages have at most `limit` items.
 */
export function frozenClient(client: DynamoDBDocumentClient, limit: number): DynamoDBDocumentClient {
  const answers = new Map<string, Promise<Record<string, unknown>>>();
  const keeping = interceptedClient(client, ({ name, input, send }) => {
    const call = `${name} ${JSON.stringify(input)}`;
    const answer = answers.get(call) ?? send();
    answers.set(call, answer);
    return answer;
  });
  return pagedClient(keeping, limit);
}
