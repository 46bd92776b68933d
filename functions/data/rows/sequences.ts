/**
 * The sequences of batches, and those that jobs have of their own, gzipped. They are not in the
 * rows, because every index would hold them again. They are written in the transaction of their row
 * (lifecycle/transaction.ts) and never change.
 */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { CorruptData } from '../../errors.ts';
import { sequenceText } from '../../schemas/sequence.ts';
import type { TableNames } from '../../tables.ts';
import { batchGet, getItem, type Item } from '../dynamodb/reads.ts';

/** The item of a batch's or a job's sequence. */
export function sequenceItem(userId: string, id: string, gzipped: Uint8Array): Item {
  return { user_id: userId, id, v: gzipped };
}

/**
 * The function that reads the text of the sequence of a user's batch or job; null when it has none.
 * Strongly consistent: 1 read unit for each 4 KB of the gzipped sequence.
 */
export function getSequence(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Sequences'>,
): (userId: string, id: string) => Promise<string | null> {
  return async (userId, id) => {
    const item = await getItem(client, { table: tables.Sequences, key: { user_id: userId, id }, consistent: true });
    if (item === undefined) return null;
    try {
      return sequenceText(item.v);
    } catch (error) {
      throw new CorruptData(`The sequence of ${id} cannot be read.`, { cause: error });
    }
  };
}

/**
 * The function that reads the gzipped sequences of a user's batches and jobs, by their ids; those
 * without one are left out. Strongly consistent, at the price of getSequence each.
 */
export function getGzippedSequences(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Sequences'>,
): (userId: string, ids: readonly string[]) => Promise<Map<string, Uint8Array>> {
  return async (userId, ids) => {
    const keys = ids.map((id) => ({ user_id: userId, id }));
    const items = await batchGet(client, { table: tables.Sequences, keys, consistent: true });
    return new Map(
      items.map(({ id, v }) => {
        if (!(v instanceof Uint8Array)) throw new CorruptData(`The sequence of ${String(id)} holds no bytes.`);
        return [String(id), v] as const;
      }),
    );
  };
}
