import { changesNothing, type Draft } from './draft.ts';
import type { LifecycleDb } from './lifecycle-db.ts';
import { queueChanges } from './queue-writes.ts';
import { readBlocksAndClocks } from './stored.ts';

/**
 * The key of the place in its queue that a draft gives to a batch; null where it gives none, or
 * changes nothing. 1 read unit for each block and clock of the draft, and half a unit for the
 * device's.
 */
export async function plannedPlace(
  db: LifecycleDb,
  userId: string,
  { draft, batchId }: { readonly draft: Draft; readonly batchId: string },
): Promise<string | null> {
  if (changesNothing(draft)) return null;
  const { clocks } = await readBlocksAndClocks(db, userId, draft);
  const { batches } = queueChanges(db, userId, { draft, clocks, now: db.clock.now() });
  return batches.find(({ id }) => id === batchId)?.queue_key ?? null;
}
