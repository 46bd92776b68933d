import type * as z from 'zod/mini';
import { type Batch, BatchProjection } from '../../schemas/batch.ts';
import type { BatchListQuery } from '../../schemas/batch-list-query.ts';
import { storedRow } from '../../schemas/stored-row.ts';
import type { Page } from '../../values/page.ts';
import { formatsOf } from '../columns/lists.ts';
import type { Db } from '../dynamodb/db.ts';
import { getRow } from '../dynamodb/reads.ts';
import {
  atLeast,
  atMost,
  commonFilters,
  commonOrders,
  facetIn,
  facetIs,
  inSets,
  notAfter,
  notBefore,
} from '../lists/filters.ts';
import { countVisible, type Listed, type ListParameters, listVisible } from '../lists/owner-list.ts';
import type { Counts } from '../lists/reader.ts';
import type { Member } from '../projects/access.ts';

export interface BatchOfUser {
  readonly userId: string;
  readonly batchId: string;
}

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
    tag: inSets('tag'),
  },
  orders: {
    ...commonOrders,
    start_date: { kind: 'column', column: 'start_datetime' },
    end_date: { kind: 'column', column: 'end_datetime' },
    complete: { kind: 'facet', facet: 'open', isReversed: true },
  },
};

/** Lists the batches that the caller may see, as listVisible does. */
export function listBatches(
  db: Db<'Batches' | 'Columns' | 'Contributors'>,
  caller: Member,
  query: BatchListQuery,
): Promise<Page<Listed<Batch>>> {
  return listVisible(db, { list: formatsOf(db).batch, parameters, show: batchOf }, caller, query);
}

/** Counts the batches that the caller may see, as countVisible does. */
export function countBatches(
  db: Db<'Batches' | 'Columns' | 'Contributors'>,
  caller: Member,
  query: BatchListQuery,
): Promise<Counts> {
  return countVisible(db, { list: formatsOf(db).batch, parameters, facet: 'status' }, caller, query);
}

/**
 * One batch; undefined when the user has none of this id. Strongly consistent: 1 read unit for each
 * 4 KB of the batch's row.
 */
export async function getBatch(db: Db<'Batches'>, userId: string, batchId: string): Promise<Batch | undefined> {
  const row = await getRow(db, {
    table: 'Batches',
    key: { user_id: userId, id: batchId },
    schema: BatchProjection,
  });
  return row && showRow(row);
}

/** What a row shows of its batch. */
export function batchOf(row: Readonly<Record<string, unknown>>): Batch {
  return showRow(storedRow(BatchProjection, row));
}

/** A batch as lists show it. */
export function showRow(row: z.infer<typeof BatchProjection>): Batch {
  return { ...row, complete: !row.open };
}
