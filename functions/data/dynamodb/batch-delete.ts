import { BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { translateErrors } from './aws-errors.ts';
import type { Item } from './reads.ts';
import { untilProcessed } from './retry.ts';

/** What BatchWriteItem takes. */
const maxKeys = 25;

/**
 * Deletes the items with these keys, as far as they exist, 25 in a call. Throws TooBusy when some
 * are left through 8 attempts (about 3 s). A write unit for each KB of an item, at least one.
 */
export async function batchDelete(client: DynamoDBDocumentClient, table: string, keys: readonly Item[]): Promise<void> {
  for (let at = 0; at < keys.length; at += maxKeys) {
    let requests = keys.slice(at, at + maxKeys).map((Key) => ({ DeleteRequest: { Key } }));
    await untilProcessed(8, async () => {
      const command = new BatchWriteCommand({ RequestItems: { [table]: requests } });
      const { UnprocessedItems = {} } = await translateErrors(client.send(command));
      requests = (UnprocessedItems[table] ?? []) as typeof requests;
      return requests.length;
    });
  }
}
