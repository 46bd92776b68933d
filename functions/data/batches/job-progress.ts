import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { JobProjection } from '../../schemas/job.ts';
import { isFinalJob } from '../../statuses.ts';
import type { TableNames } from '../../tables.ts';
import { getRow } from '../dynamodb/reads.ts';
import { getQueuedBatch, secondsToNextLook } from './queue-counts.ts';

const JobStatusOfRow = z.pick(JobProjection, { id: true, batch_id: true, status: true });

/** A job's status, and after how many seconds to look again; undefined where it has ended. */
interface JobProgress extends Pick<z.infer<typeof JobProjection>, 'id' | 'status'> {
  readonly next_look_seconds: number | undefined;
}

/**
 * The function that reads the status of a job; undefined when the user has none of this id.
 * Strongly consistent: 1 read unit for each 4 KB of the job's row; while it is PENDING also what
 * getQueuedBatch costs for its batch.
 */
export function getJobProgress(
  client: DynamoDBDocumentClient,
  tables: TableNames<'Batches' | 'Jobs' | 'DeviceQueue'>,
): (userId: string, jobId: string) => Promise<JobProgress | undefined> {
  const batchOf = getQueuedBatch(client, tables);
  return async (userId, jobId) => {
    const key = { user_id: userId, id: jobId };
    const job = await getRow(client, { table: tables.Jobs, key, schema: JobStatusOfRow });
    if (job === undefined) return undefined;
    const { id, batch_id, status } = job;
    const batch = status === 'PENDING' ? await batchOf(userId, batch_id) : undefined;
    // Of a batch that has just ended the job ends as well.
    const waiting = (batch && secondsToNextLook(batch)) ?? 1;
    return { id, status, next_look_seconds: isFinalJob(job) ? undefined : waiting };
  };
}
