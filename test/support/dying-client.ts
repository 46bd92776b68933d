import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { interceptedClient } from './intercepted-client.ts';

/** Whether the work of a dying client was finished. Throws what else went wrong with it. */
export function isFinished(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    (error: Error) => {
      if (error.message !== 'killed') throw error;
      return false;
    },
  );
}

/**
 * The client of a function that makes `most` transactions and dies before the next one.
 * `transactions` counts the transactions that it made.
 */
export function dyingClient(client: DynamoDBDocumentClient, most: number) {
  const count = { transactions: 0 };
  const dying = interceptedClient(client, async (call) => {
    if (call.name !== 'TransactWriteCommand') return call.send();
    if (count.transactions >= most) throw new Error('killed');
    const output = await call.send();
    count.transactions += 1;
    return output;
  });
  return Object.assign(count, { client: dying });
}
