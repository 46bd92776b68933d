import { type Job, JobProjection } from '../../schemas/job.ts';
import type { JobListQuery } from '../../schemas/job-list-query.ts';
import { attributesOf, storedRow } from '../../schemas/stored-row.ts';
import type { JobStatus } from '../../schemas/values.ts';
import type { Page } from '../../values/page.ts';
import type { Row } from '../columns/column-items.ts';
import { formatsOf } from '../columns/lists.ts';
import type { Db } from '../dynamodb/db.ts';
import { getItem } from '../dynamodb/reads.ts';
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
import { listMatchingIds } from '../lists/matching-ids.ts';
import { countVisible, type Listed, type ListParameters, listVisible } from '../lists/owner-list.ts';
import { type Counts, readList } from '../lists/reader.ts';
import { findFellowsRows, type Member } from '../projects/access.ts';
import type { BatchOfUser } from './batches.ts';
import { type Content, type RowsRead, withConstants } from './constants.ts';

const parameters: ListParameters<JobListQuery> = {
  filters: {
    ...commonFilters,
    batch_id: inSets('batch'),
    origin: facetIn('origin'),
    min_runs: atLeast('runs'),
    max_runs: atMost('runs'),
    errors: facetIs('errors'),
    start_date: notBefore('start_timestamp'),
    end_date: notAfter('end_timestamp'),
  },
  orders: {
    ...commonOrders,
    ordered_id: { kind: 'column', column: 'creation_order' },
    start_date: { kind: 'column', column: 'start_timestamp' },
    end_date: { kind: 'column', column: 'end_timestamp' },
  },
};

/**
 * Lists the jobs that the caller may see, as listVisible does. Where the query names one batch and
 * no users, and the caller has no such jobs, the batch may be a fellow's: findFellowsRows' costs.
 * Jobs with long variables cost what withConstants takes besides, one step deeper.
 */
export async function listJobs(
  db: Db<'Batches' | 'Jobs' | 'Columns' | 'Sequences' | 'Contributors'>,
  caller: Member,
  query: JobListQuery,
): Promise<Page<Listed<Job>>> {
  const show = (rows: readonly Content[]) => showJobs(db, rows, { mayBeOld: true });
  const list = { list: formatsOf(db).job, parameters, show };
  const own = await listVisible(db, list, caller, query);
  const fellows = own.total > 0 ? [] : await fellowsWithBatch(db, caller, query);
  return fellows.length === 0 ? own : listVisible(db, list, caller, { ...query, user_id: fellows });
}

/** Counts the jobs that listJobs would list, as countVisible does. */
export async function countJobs(
  db: Db<'Batches' | 'Jobs' | 'Columns' | 'Contributors'>,
  caller: Member,
  query: JobListQuery,
): Promise<Counts> {
  const list = { list: formatsOf(db).job, parameters, facet: 'status' };
  const own = await countVisible(db, list, caller, query);
  const hasNone = Object.values(own).every((count) => count === 0);
  const fellows = hasNone ? await fellowsWithBatch(db, caller, query) : [];
  return fellows.length === 0 ? own : countVisible(db, list, caller, { ...query, user_id: fellows });
}

/** Whose batch it is, where the query asks for the jobs of one batch of a fellow. */
async function fellowsWithBatch(
  db: Db<'Batches' | 'Contributors'>,
  caller: Member,
  { batch_id: ids = [], scope, user_id }: JobListQuery,
): Promise<string[]> {
  if (ids.length !== 1 || scope !== undefined || user_id !== undefined) return [];
  return (await findFellowsRows(db, caller, { table: 'Batches', ids })).map((row) => row.user_id);
}

/**
 * The first jobs of a batch in their order, `limit` of them, and how many it has. Costs and
 * guarantees: see listRowsOfBatch and withConstants.
 */
export async function listJobsOfBatch(
  db: Db<'Jobs' | 'Columns' | 'Sequences'>,
  of: BatchOfUser,
  limit: number,
): Promise<Page<Job>> {
  const { items, total } = await listRowsOfBatch(db, of, limit);
  return { items: await showJobs(db, items, { mayBeOld: true }), total };
}

/** The rows of these jobs. Costs and guarantees: see readList. */
export function listRowsOfBatch(
  db: Db<'Jobs' | 'Columns'>,
  { userId, batchId }: BatchOfUser,
  limit: number,
): Promise<Page<Row>> {
  const conditions = [inSets('batch')([batchId])];
  const query = { conditions, order: { kind: 'creation' }, direction: 'ASC', offset: 0, limit } as const;
  return readList(db, formatsOf(db).job, userId, query);
}

/** The jobs of these rows as users see them, in their order. Costs: see withConstants. */
export async function showJobs(db: Db<'Sequences'>, rows: readonly Content[], read?: RowsRead): Promise<Job[]> {
  return (await withConstants(db, rows, read)).map(jobOf);
}

/**
 * The job as users see it, of a row with its constants. Throws CorruptData when the row breaks its
 * schema.
 */
export function jobOf(row: Readonly<Record<string, unknown>>): Job {
  return storedRow(JobProjection, row);
}

/**
 * One job; undefined when the user has none of this id. Strongly consistent: 1 read unit for each
 * 4 KB of the job's row. With long variables, what withConstants takes besides.
 */
export async function getJob(db: Db<'Jobs' | 'Sequences'>, userId: string, jobId: string): Promise<Job | undefined> {
  const key = { user_id: userId, id: jobId };
  const row = await getItem(db, { table: 'Jobs', key, consistent: true, attributes: attributesOf(JobProjection) });
  return row && (await showJobs(db, [row]))[0];
}

interface JobConditions {
  readonly min_runs?: number | undefined;
  readonly max_runs?: number | undefined;
  readonly status?: readonly JobStatus[] | undefined;
  /** Canonical times of creation, both inclusive. */
  readonly start_date?: string | undefined;
  readonly end_date?: string | undefined;
  /** Only this number of ids, the first. */
  readonly limit?: number;
}

/**
 * The ids of a batch's jobs that meet the conditions, by default of all, in creation order,
 * strongly consistent. Read units: see listMatchingIds.
 */
export function listJobIds(
  db: Db<'Jobs' | 'Columns'>,
  { userId, batchId }: BatchOfUser,
  { min_runs, max_runs, status, start_date, end_date, limit }: JobConditions = {},
): Promise<string[]> {
  const conditions = [
    inSets('batch')([batchId]),
    ...(min_runs === undefined ? [] : [atLeast('runs')(min_runs)]),
    ...(max_runs === undefined ? [] : [atMost('runs')(max_runs)]),
    ...(status === undefined ? [] : [facetIn('status')(status)]),
    ...(start_date === undefined ? [] : [commonFilters.created_after(start_date)]),
    ...(end_date === undefined ? [] : [commonFilters.created_before(end_date)]),
  ];
  return listMatchingIds(db, formatsOf(db).job, userId, { conditions, limit });
}
