/** Who has batches in a project, and under what name: an item for each project and user. */

import * as z from 'zod/mini';
import { storedRow } from '../../schemas/stored-row.ts';
import type { Db } from '../dynamodb/db.ts';
import { queryAll } from '../dynamodb/reads.ts';
import type { Write } from '../dynamodb/write-units.ts';

export const Contributor = z.object({
  project_id: z.string(),
  user_id: z.string(),
  /** What their token called them when the item was written; absent where it did not say. */
  user_name: z.optional(z.string()),
});
export type Contributor = z.infer<typeof Contributor>;

/** For the transaction that gives the user a first row in the project. 2 write units there. */
export function contributorWrite({ tables }: Db<'Contributors'>, contributor: Contributor): Write {
  return { Put: { TableName: tables.Contributors, Item: contributor } };
}

/**
 * The contributors of these projects, each project's by user id, eventually consistent: half a read
 * unit for each project and 4 KB, in one step.
 */
export async function listContributors(db: Db<'Contributors'>, projectIds: readonly string[]): Promise<Contributor[]> {
  const found = await Promise.all(
    projectIds.map((project_id) =>
      queryAll(db, {
        table: 'Contributors',
        partition: { project_id },
        sortKey: 'user_id',
        range: 'all',
        consistent: false,
      }),
    ),
  );
  return found.flat().map((item) => storedRow(Contributor, item));
}
