/**
 * The sequences of batches, and of jobs with a sequence of their own, gzipped. They are not in the
 * rows, because every index would hold them again. They are written in the transaction of their row
 * (lifecycle/transaction.ts) and never change.
 */

import { CorruptData } from '../../errors.ts';
import { sequenceText } from '../../schemas/sequence.ts';
import type { Db } from '../dynamodb/db.ts';
import { batchGet, getItem, type Item } from '../dynamodb/reads.ts';

/** The item of a batch's or a job's sequence. */
export function sequenceItem(userId: string, id: string, gzipped: Uint8Array): Item {
  return { user_id: userId, id, v: gzipped };
}

/**
 * The text of the sequence of a user's batch or job; null when it has none. Strongly consistent: 1
 * read unit for each 4 KB of the gzipped sequence.
 */
export async function getSequence(db: Db<'Sequences'>, userId: string, id: string): Promise<string | null> {
  const item = await getItem(db, { table: 'Sequences', key: { user_id: userId, id }, consistent: true });
  if (item === undefined) return null;
  try {
    return sequenceText(item.v);
  } catch (error) {
    throw new CorruptData(`The sequence of ${id} cannot be read.`, { cause: error });
  }
}

/**
 * The gzipped sequences of a user's batches and jobs, by their ids; ids without one are left out.
 * Strongly consistent, at the price of getSequence each.
 */
export async function getGzippedSequences(
  db: Db<'Sequences'>,
  userId: string,
  ids: readonly string[],
): Promise<Map<string, Uint8Array>> {
  const keys = ids.map((id) => ({ user_id: userId, id }));
  const items = await batchGet(db, { table: 'Sequences', keys, consistent: true });
  return new Map(
    items.map(({ id, v }) => {
      if (!(v instanceof Uint8Array)) throw new CorruptData(`The sequence of ${String(id)} holds no bytes.`);
      return [String(id), v] as const;
    }),
  );
}
