import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Job, JobOfRow } from '../schemas/job.ts';
import type { JobListQuery } from '../schemas/job-list-query.ts';
import type { TableNames } from '../tables.ts';
import { jobList } from './columns/lists.ts';
import { storedRow } from './dynamodb/stored-row.ts';
import {
  atLeast,
  atMost,
  facetIn,
  facetIs,
  idPrefix,
  ids,
  inSets,
  makeListQuery,
  notAfter,
  notBefore,
} from './lists/filters.ts';
import type { Page } from './lists/query.ts';
import { type ListOptions, listReader } from './lists/reader.ts';

const filters = {
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
} as const;

/**
 * The function that lists a user's jobs without their results: those that match, from `offset` on, and how many match in all.
 * Costs and guarantees are those of listReader.
 */
export function listJobs(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns'>,
  options?: ListOptions,
): (userId: string, query: JobListQuery) => Promise<Page<Job>> {
  const read = listReader(client, tables, jobList, options);
  return async (userId, query) => {
    if (query.user_id !== undefined && !query.user_id.includes(userId)) return { items: [], total: 0 };
    const { items, total } = await read(userId, makeListQuery(jobList, filters, query));
    return { items: items.map((row) => storedRow(JobOfRow, row)), total };
  };
}
