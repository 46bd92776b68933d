import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Page } from '../page.ts';
import { type Job, JobProjection } from '../schemas/job.ts';
import type { JobListQuery } from '../schemas/job-list-query.ts';
import type { JobStatus } from '../schemas/values.ts';
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
  inSets,
  notAfter,
  notBefore,
} from './lists/filters.ts';
import { listMatchingIds } from './lists/matching-ids.ts';
import { type ListParameters, ownerCounts, ownerList } from './lists/owner-list.ts';
import type { Counts } from './lists/reader.ts';

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
 * The function that lists a user's jobs without their results: those that match, from `offset` on,
 * and how many match in all. Costs and guarantees: see listReader.
 */
export function listJobs(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns'>,
  { job: list }: OwnerLists = ownerLists,
): (userId: string, query: JobListQuery) => Promise<Page<Job>> {
  return ownerList({ client, tables, list }, parameters, jobOf);
}

/**
 * The function that counts a user's jobs that match, by their status. Costs and guarantees: see
 * countsReader.
 */
export function countJobs(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns'>,
  { job: list }: OwnerLists = ownerLists,
): (userId: string, query: JobListQuery) => Promise<Counts> {
  const count = ownerCounts({ client, tables, list }, parameters);
  return (userId, query) => count(userId, query, 'status');
}

/** The job as users see it. Throws CorruptData when the row breaks its schema. */
export function jobOf(row: Readonly<Record<string, unknown>>): Job {
  return storedRow(JobProjection, row);
}

/**
 * The function that reads one job; undefined when the user has none of this id. Strongly
 * consistent: 1 read unit for each 4 KB of the job's row.
 */
export function getJob(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Jobs'>,
): (userId: string, jobId: string) => Promise<Job | undefined> {
  return (userId, jobId) =>
    getRow(client, {
      table: tables.Jobs,
      key: { user_id: userId, id: jobId },
      schema: JobProjection,
    });
}

/** Conditions on the jobs of a batch. */
export interface JobConditions {
  readonly min_runs?: number | undefined;
  readonly max_runs?: number | undefined;
  readonly status?: readonly JobStatus[] | undefined;
  /** Canonical times of creation, both inclusive. */
  readonly start_date?: string | undefined;
  readonly end_date?: string | undefined;
}

/**
 * The function that finds the ids of a batch's jobs, or of those that meet the conditions, in
 * creation order, strongly consistent. Read units: see listMatchingIds.
 */
export function listJobIds(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Jobs' | 'Columns'>,
  { job: list }: OwnerLists = ownerLists,
): (userId: string, batchId: string, conditions?: JobConditions) => Promise<string[]> {
  return (userId, batchId, { min_runs, max_runs, status, start_date, end_date } = {}) =>
    listMatchingIds({ client, tables, list }, userId, [
      inSets('batch')([batchId]),
      ...(min_runs === undefined ? [] : [atLeast('runs')(min_runs)]),
      ...(max_runs === undefined ? [] : [atMost('runs')(max_runs)]),
      ...(status === undefined ? [] : [facetIn('status')(status)]),
      ...(start_date === undefined ? [] : [commonFilters.created_after(start_date)]),
      ...(end_date === undefined ? [] : [commonFilters.created_before(end_date)]),
    ]);
}
