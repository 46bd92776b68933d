import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { interceptedClient } from './intercepted-client.ts';

/**
 * The client of a process that ends after `writes` writes of single items. Later writes fail, once
 * the writes under way are made.
 */
export function interruptedClient(client: DynamoDBDocumentClient, writes: number): DynamoDBDocumentClient {
  let left = writes;
  const made: Promise<unknown>[] = [];
  return interceptedClient(client, async (call) => {
    if (!/^(Put|Delete|Update)/.test(call.name)) return call.send();
    if (left-- <= 0) {
      await Promise.allSettled(made);
      throw new Error('interrupted');
    }
    const write = call.send();
    made.push(write);
    return write;
  });
}
