import { BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { translateErrors } from './aws-errors.ts';
import type { Item } from './reads.ts';
import { retry } from './retry.ts';

/** What BatchWriteItem takes. */
const maxKeys = 25;

/**
 * Deletes the items with these keys, as far as they exist, 25 in a call. Throws TooBusy when some
 * are left through 8 attempts (about 3 s). A write unit for each KB of an item, at least one.
 */
export async function batchDelete(client: DynamoDBDocumentClient, table: string, keys: readonly Item[]): Promise<void> {
  for (let at = 0; at < keys.length; at += maxKeys) {
    let requests = keys.slice(at, at + maxKeys).map((Key) => ({ DeleteRequest: { Key } }));
    const deleteSome = async () => {
      const command = new BatchWriteCommand({ RequestItems: { [table]: requests } });
      const { UnprocessedItems = {} } = await translateErrors(client.send(command));
      requests = (UnprocessedItems[table] ?? []) as typeof requests;
      if (requests.length > 0) throw new ItemsUnprocessed(`${requests.length} items`);
    };
    await retry(deleteSome, {
      attempts: 8,
      firstMilliseconds: 100,
      maxDelayMilliseconds: 1_600,
      mayPass: (error) => error instanceof ItemsUnprocessed,
      message: 'DynamoDB left items unprocessed through all attempts.',
    });
  }
}

class ItemsUnprocessed extends Error {}
