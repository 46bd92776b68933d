import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Page } from '../page.ts';
import { type Job, JobProjection, jobRowDefaults } from '../schemas/job.ts';
import type { JobListQuery } from '../schemas/job-list-query.ts';
import type { TableNames } from '../tables.ts';
import { type OwnerLists, ownerLists } from './columns/lists.ts';
import { getRow } from './dynamodb/reads.ts';
import { storedRow } from './dynamodb/stored-row.ts';
import { readSets } from './lists/column-reads.ts';
import {
  atLeast,
  atMost,
  commonFilters,
  commonOrders,
  facetIn,
  facetIs,
  idPrefix,
  ids,
  inSets,
  type ListParameters,
  makeListQuery,
  notAfter,
  notBefore,
} from './lists/filters.ts';
import { columnsHead, ownerReads } from './lists/owner-reads.ts';
import { listReader } from './lists/reader.ts';
import { idsAt } from './lists/row-reads.ts';
import { emptyRowSet, rowsOf } from './lists/row-set.ts';

const parameters: ListParameters<JobListQuery> = {
  filters: {
    ...commonFilters,
    id: ids,
    id__starts_with: idPrefix,
    batch_id: inSets('batch'),
    project_id: facetIn('project_id'),
    status: facetIn('status'),
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
  const read = listReader({ client, tables, list });
  return async (userId, query) => {
    if (query.user_id !== undefined && !query.user_id.includes(userId)) return { items: [], total: 0 };
    const { items, total } = await read(userId, makeListQuery(list, parameters, query));
    return { items: items.map(jobOf), total };
  };
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
      defaults: jobRowDefaults,
    });
}

/**
 * The function that finds the ids of all jobs of a batch, in creation order, strongly consistent.
 * Read units: the head of the user's jobs, and about one for each 250 jobs that were created
 * together.
 */
export function listJobIds(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Columns'>,
  { job: list }: OwnerLists = ownerLists,
): (userId: string, batchId: string) => Promise<string[]> {
  return async (userId, batchId) => {
    const reads = ownerReads({ client, tables, list }, userId, true);
    const [[jobs = emptyRowSet(0)], { next_seq }] = await Promise.all([
      readSets(reads, [{ kind: 'set', sets: 'batch', oneOf: [batchId] }]),
      columnsHead(reads),
    ]);
    // A job that was created since the head was read is in the set already.
    const positions = rowsOf(jobs).filter((position) => position < next_seq);
    return positions.length === 0 ? [] : idsAt(reads, positions);
  };
}
