import { type Batch, BatchProjection, BatchRow } from '../../schemas/batch.ts';
import type { BatchListQuery } from '../../schemas/batch-list-query.ts';
import { attributesOf, storedRow } from '../../schemas/stored-row.ts';
import type { Page } from '../../values/page.ts';
import { formatsOf } from '../columns/lists.ts';
import type { Db } from '../dynamodb/db.ts';
import { getItem, getRow } from '../dynamodb/reads.ts';
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
import { type Content, type RowsRead, withConstants } from './constants.ts';

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

/**
 * Lists the batches that the caller may see, as listVisible does. Batches with long configurations
 * cost what withConstants takes besides, one step deeper.
 */
export function listBatches(
  db: Db<'Batches' | 'Columns' | 'Sequences' | 'Contributors'>,
  caller: Member,
  query: BatchListQuery,
): Promise<Page<Listed<Batch>>> {
  const show = (rows: readonly Content[]) => showBatches(db, rows, { mayBeOld: true });
  return listVisible(db, { list: formatsOf(db).batch, parameters, show }, caller, query);
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
 * 4 KB of the batch's row. With a long configuration, what withConstants takes besides.
 */
export async function getBatch(
  db: Db<'Batches' | 'Sequences'>,
  userId: string,
  batchId: string,
): Promise<Batch | undefined> {
  const key = { user_id: userId, id: batchId };
  const row = await getItem(db, { table: 'Batches', key, consistent: true, attributes: attributesOf(BatchProjection) });
  return row && showBatch(db, row);
}

/**
 * The row of one batch, in which markers may be in the place of constants; undefined when the user
 * has none of this id. Strongly consistent: 1 read unit for each 4 KB of it.
 */
export function getBatchRow(db: Db<'Batches'>, userId: string, batchId: string): Promise<BatchRow | undefined> {
  return getRow(db, { table: 'Batches', key: { user_id: userId, id: batchId }, schema: BatchRow() });
}

/** The batches of these rows as lists show them, in their order. Costs: see withConstants. */
export async function showBatches(db: Db<'Sequences'>, rows: readonly Content[], read?: RowsRead): Promise<Batch[]> {
  return (await withConstants(db, rows, read)).map(batchOf);
}

/** The batch of a row as lists show it. Costs: see withConstants. */
export async function showBatch(db: Db<'Sequences'>, row: Content): Promise<Batch> {
  return (await showBatches(db, [row]))[0]!;
}

/** What a row with its constants shows of its batch. */
export function batchOf(row: Content): Batch {
  const shown = storedRow(BatchProjection, row);
  return { ...shown, complete: !shown.open };
}
