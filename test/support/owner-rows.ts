import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { ownerLists } from '../../functions/data/columns/lists.ts';
import type { BatchRow } from '../../functions/schemas/batch.ts';
import type { JobRow } from '../../functions/schemas/job.ts';
import type { TableNames } from '../../functions/tables.ts';
import { type Difference, recount } from '../../infra/repair/recount.ts';
import { readSnapshot } from '../../infra/repair/snapshot.ts';
import { itemsOfOwner } from './items-of-owner.ts';
import { smallLists } from './small-lists.ts';

/** All rows of an owner in creation order. */
export interface BatchesAndJobs {
  readonly batches: readonly BatchRow[];
  readonly jobs: readonly JobRow[];
}

/** All rows of an owner in creation order, and all other items by their key. */
export interface OwnerRows extends BatchesAndJobs {
  readonly columns: Readonly<Record<string, Record<string, unknown>>>;
}

export async function ownerRows(
  client: DynamoDBDocumentClient,
  tables: TableNames,
  userId: string,
): Promise<OwnerRows> {
  const [rows, items] = await Promise.all([
    batchesAndJobs(client, tables, userId),
    itemsOfOwner(client, tables.Columns, userId),
  ]);
  return { ...rows, columns: Object.fromEntries(items.map((item) => [String(item.key), item])) };
}

/** The rows alone: a user has many more items in columns. */
export async function batchesAndJobs(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs'>,
  userId: string,
): Promise<BatchesAndJobs> {
  const all = (table: string) => itemsOfOwner(client, table, userId);
  const [batches, jobs] = await Promise.all([all(tables.Batches), all(tables.Jobs)]);
  const bySeq = (a: { seq: number }, b: { seq: number }) => a.seq - b.seq;
  return { batches: (batches as BatchRow[]).sort(bySeq), jobs: (jobs as JobRow[]).sort(bySeq) };
}

/**
 * What a recount of the owner finds wrong, while nobody writes. Throws where a row that has ended
 * has no end, one that has not has an end, or one ended before it started.
 */
export async function recountOf(
  client: DynamoDBDocumentClient,
  tables: TableNames,
  userId: string,
  rowsPerBlock?: number,
): Promise<Difference[]> {
  const lists = rowsPerBlock === undefined ? ownerLists : smallLists(rowsPerBlock);
  const snapshot = await readSnapshot({ client, tables, userId }, lists);
  for (const { row } of [...snapshot.batches, ...snapshot.jobs]) requireEnd(row);
  return recount(lists, snapshot);
}

function requireEnd(row: Readonly<Record<string, unknown>>) {
  const [start, end] = [row.start_datetime ?? row.start_timestamp, row.end_datetime ?? row.end_timestamp ?? null];
  const hasEnded = ['DONE', 'CANCELED', 'TIMED_OUT', 'ERROR'].includes(String(row.status));
  if (hasEnded === (end !== null) && (end === null || String(start ?? '') <= String(end))) return;
  throw new Error(`${row.id} is ${row.status}, started at ${start} and ended at ${end}.`);
}
