import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { TableNames } from '../../tables.ts';
import { batchGet } from '../dynamodb/reads.ts';

/** A batch by its owner and its id. */
export interface BatchKey {
  readonly user_id: string;
  readonly batch_id: string;
}

/**
 * The function that reads the webhooks of batches of any owners; null for those that have none.
 * Strongly consistent: 1 read unit for each 4 KB of each batch's row.
 */
export function getWebhooksOfBatches(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches'>,
): (batches: readonly BatchKey[]) => Promise<(batch: BatchKey) => string | null> {
  return async (batches) => {
    const distinct = [...new Map(batches.map((batch) => [textOf(batch), batch])).values()];
    const keys = distinct.map(({ user_id, batch_id }) => ({ user_id, id: batch_id }));
    const attributes = ['user_id', 'id', 'webhook'];
    const items = await batchGet(client, { table: tables.Batches, keys, consistent: true, attributes });
    const webhooks = new Map(
      items.map(({ user_id, id, webhook }) => [textOf({ user_id, batch_id: id }), webhook as string | null]),
    );
    return (batch) => webhooks.get(textOf(batch)) ?? null;
  };
}

function textOf({ user_id, batch_id }: BatchKey): string {
  return `${batch_id} ${user_id}`;
}
