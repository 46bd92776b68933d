import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ownerLists } from '../../functions/data/columns/lists.ts';
import type { BatchRow } from '../../functions/schemas/batch.ts';
import type { JobRow } from '../../functions/schemas/job.ts';
import type { TableNames } from '../../functions/tables.ts';
import { type Difference, recount } from '../../infra/repair/recount.ts';
import { readSnapshot } from '../../infra/repair/snapshot.ts';
import { itemsOfOwner } from './items-of-owner.ts';
import { smallLists } from './small-lists.ts';

/** All rows of an owner in creation order, and all other items by their key. */
export interface OwnerRows {
  readonly batches: readonly BatchRow[];
  readonly jobs: readonly JobRow[];
  readonly columns: Readonly<Record<string, Record<string, unknown>>>;
}

export async function ownerRows(
  client: DynamoDBDocumentClient,
  tables: TableNames,
  userId: string,
): Promise<OwnerRows> {
  const all = (table: string) => itemsOfOwner(client, table, userId);
  const [batches, jobs, columns] = await Promise.all([all(tables.Batches), all(tables.Jobs), all(tables.Columns)]);
  const bySeq = (a: { seq: number }, b: { seq: number }) => a.seq - b.seq;
  return {
    batches: (batches as BatchRow[]).sort(bySeq),
    jobs: (jobs as JobRow[]).sort(bySeq),
    columns: Object.fromEntries(columns.map((item) => [String(item.key), item])),
  };
}

/** What a recount of the owner finds wrong, while nobody writes. */
export async function recountOf(
  client: DynamoDBDocumentClient,
  tables: TableNames,
  userId: string,
  rowsPerBlock?: number,
): Promise<Difference[]> {
  const lists = rowsPerBlock === undefined ? ownerLists : smallLists(rowsPerBlock);
  return recount(lists, await readSnapshot({ client, tables, userId }, lists));
}
