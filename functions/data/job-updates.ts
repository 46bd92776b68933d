/** What users change of a job. */

import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Job, JobProjection } from '../schemas/job.ts';
import type { TableNames } from '../tables.ts';
import { fromMicroseconds } from '../timestamp.ts';
import { ownerLists } from './columns/lists.ts';
import { storedRow } from './dynamodb/stored-row.ts';
import { cancelJob as cancelJobOperation } from './lifecycle/cancel.ts';
import { visibleJob } from './lifecycle/draft.ts';
import type { LifecycleOptions } from './lifecycle/lifecycle.ts';
import { requestChange } from './lifecycle/request-change.ts';

/**
 * The function that cancels a job and returns it; repeated, it changes nothing. Throws NotFound
 * when the user has no such job, IllegalTransition when it has ended otherwise. Write units for
 * rows up to 1 KB: 16, 12 for one of the newest jobs.
 */
export function cancelJob(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'Columns' | 'DeviceQueue'>,
  options: LifecycleOptions = {},
): (userId: string, jobId: string) => Promise<Job> {
  const { now = Date.now, rowsPerBlock, lists = ownerLists(rowsPerBlock) } = options;
  const change = requestChange(client, tables, options);
  return async (userId, jobId) => {
    const draft = await change(userId, [cancelJobOperation(lists, { jobId, now: fromMicroseconds(now() * 1000) })]);
    return storedRow(JobProjection, { ...visibleJob(draft, jobId) });
  };
}
