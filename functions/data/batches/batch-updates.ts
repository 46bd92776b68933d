/**
 * Changes that users make to a batch. Both calls may be repeated: a repetition changes nothing and
 * returns the batch as it is.
 */

import type { Batch, BatchRow } from '../../schemas/batch.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import type { AuditedAct } from '../lifecycle/audited-act.ts';
import { commitTask } from '../lifecycle/commit-tasks.ts';
import type { LifecycleDb } from '../lifecycle/lifecycle-db.ts';
import { updateBatch } from '../lifecycle/update.ts';
import type { BatchUpdate } from '../lifecycle/update-row.ts';
import { type BatchOfUser, showBatch } from '../rows/batches.ts';

/**
 * Closes a batch for good, so that it takes no more jobs, and returns it. If none of its jobs is
 * unfinished, it ends. Throws NotFound when the user has no such batch. Write units: 8 for a row up
 * to 1 KB, 10 if it ends; 2 to 4 more for an act.
 */
export function closeBatch(db: LifecycleDb, userId: string, batchId: string, act?: AuditedAct): Promise<Batch> {
  return update(db, { userId, batchId }, { open: false }, act);
}

/**
 * Replaces the tags of a batch and returns it. Throws NotFound when the user has no such batch.
 * Write units: 6, and 2 for each tag that it gets or loses.
 */
export function setTags(db: LifecycleDb, userId: string, batchId: string, tags: string[]): Promise<Batch> {
  return update(db, { userId, batchId }, { tags });
}

async function update(
  db: LifecycleDb,
  { userId, batchId }: BatchOfUser,
  changed: BatchUpdate,
  act?: AuditedAct,
): Promise<Batch> {
  const change = updateBatch({ id: batchId, update: changed, now: fromMilliseconds(db.clock.now()), act });
  const { batches } = await commitTask(db, { userId }, { changes: [change] });
  return showBatch(db, batches.get(batchId) as BatchRow);
}
