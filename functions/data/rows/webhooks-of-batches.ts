import type { Db } from '../dynamodb/db.ts';
import { batchGet } from '../dynamodb/reads.ts';

export interface BatchKey {
  readonly user_id: string;
  readonly batch_id: string;
}

/**
 * The webhooks of batches of any owners, as a function; null for a batch that has none. Strongly
 * consistent: 1 read unit for each 4 KB of each batch's row.
 */
export async function getWebhooksOfBatches(
  db: Db<'Batches'>,
  batches: readonly BatchKey[],
): Promise<(batch: BatchKey) => string | null> {
  const distinct = [...new Map(batches.map((batch) => [textOf(batch), batch])).values()];
  const keys = distinct.map(({ user_id, batch_id }) => ({ user_id, id: batch_id }));
  const attributes = ['user_id', 'id', 'webhook'];
  const items = await batchGet(db, { table: 'Batches', keys, consistent: true, attributes });
  const webhooks = new Map(
    items.map(({ user_id, id, webhook }) => [textOf({ user_id, batch_id: id }), webhook as string | null]),
  );
  return (batch) => webhooks.get(textOf(batch)) ?? null;
}

function textOf({ user_id, batch_id }: BatchKey): string {
  return `${batch_id} ${user_id}`;
}
