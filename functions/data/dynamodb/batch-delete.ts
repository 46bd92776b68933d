import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { TableName } from '../../tables.ts';
import { translateErrors } from './aws-errors.ts';
import type { Db } from './db.ts';
import type { Item } from './reads.ts';
import { untilProcessed } from './retry.ts';

/** What BatchWriteItem takes. */
const maxKeys = 25;

/**
 * Deletes the items with these keys, as far as they exist, 25 in a call. Throws TooBusy when some
 * are left through 8 attempts (about 3 s). A write unit for each KB of an item, at least one.
 */
export async function batchDelete<Used extends TableName>(
  { client, tables, clock }: Db<Used>,
  table: NoInfer<Used>,
  keys: readonly Item[],
): Promise<void> {
  const name = tables[table];
  for (let at = 0; at < keys.length; at += maxKeys) {
    let requests = keys.slice(at, at + maxKeys).map((Key) => ({ DeleteRequest: { Key } }));
    await untilProcessed(clock, 8, async () => {
      const command = new BatchWriteCommand({ RequestItems: { [name]: requests } });
      const { UnprocessedItems = {} } = await translateErrors(client.send(command));
      requests = (UnprocessedItems[name] ?? []) as typeof requests;
      return requests.length;
    });
  }
}
