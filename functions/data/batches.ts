import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type * as z from 'zod/mini';
import type { Page } from '../page.ts';
import { type Batch, BatchProjection } from '../schemas/batch.ts';
import type { BatchListQuery } from '../schemas/batch-list-query.ts';
import type { TableNames } from '../tables.ts';
import { type OwnerLists, ownerLists } from './columns/lists.ts';
import { getRow } from './dynamodb/reads.ts';
import { storedRow } from './dynamodb/stored-row.ts';
import {
  atLeast,
  atMost,
  commonFilters,
  commonOrders,
  facetIn,
  facetIs,
  inSet,
  notAfter,
  notBefore,
} from './lists/filters.ts';
import { type ListParameters, ownerCounts, ownerList } from './lists/owner-list.ts';
import type { Counts } from './lists/reader.ts';

const parameters: ListParameters<BatchListQuery> = {
  filters: {
    ...commonFilters,
    device_type: facetIn('device_type'),
    open: facetIs('open'),
    min_jobs: atLeast('jobs_count'),
    max_jobs: atMost('jobs_count'),
    start_date: notBefore('start_datetime'),
    end_date: notAfter('end_datetime'),
    queue_priority: facetIn('queue_priority'),
    has_errors: facetIs('has_errors'),
    tag: inSet('tag'),
  },
  orders: {
    ...commonOrders,
    start_date: { kind: 'column', column: 'start_datetime' },
    end_date: { kind: 'column', column: 'end_datetime' },
    complete: { kind: 'facet', facet: 'open', isReversed: true },
  },
};

/**
 * The function that lists a user's batches: those that match, from `offset` on, and how many match
 * in all. Costs and guarantees: see listReader.
 */
export function listBatches(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Columns'>,
  { batch: list }: OwnerLists = ownerLists,
): (userId: string, query: BatchListQuery) => Promise<Page<Batch>> {
  return ownerList({ client, tables, list }, parameters, batchOf);
}

/**
 * The function that counts a user's batches that match, by their status. Costs and guarantees: see
 * countsReader.
 */
export function countBatches(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Columns'>,
  { batch: list }: OwnerLists = ownerLists,
): (userId: string, query: BatchListQuery) => Promise<Counts> {
  const count = ownerCounts({ client, tables, list }, parameters);
  return (userId, query) => count(userId, query, 'status');
}

/**
 * The function that reads one batch; undefined when the user has none of this id. Strongly
 * consistent: 1 read unit for each 4 KB of the batch's row.
 */
export function getBatch(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches'>,
): (userId: string, batchId: string) => Promise<Batch | undefined> {
  return async (userId, batchId) => {
    const key = { user_id: userId, id: batchId };
    const row = await getRow(client, { table: tables.Batches, key, schema: BatchProjection });
    return row && showRow(row);
  };
}

/** What a row shows of its batch. */
export function batchOf(row: Readonly<Record<string, unknown>>): Batch {
  return showRow(storedRow(BatchProjection, row));
}

/** A batch as lists show it. */
export function showRow(row: z.infer<typeof BatchProjection>): Batch {
  return { ...row, complete: !row.open };
}
