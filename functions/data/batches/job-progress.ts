import * as z from 'zod/mini';
import { JobProjection } from '../../schemas/job.ts';
import { isFinalJob } from '../../statuses.ts';
import type { Db } from '../dynamodb/db.ts';
import { getRow } from '../dynamodb/reads.ts';
import { getQueuedBatch, secondsToNextLook } from './queue-counts.ts';

const JobStatusOfRow = z.pick(JobProjection, { id: true, batch_id: true, status: true });

/** A job's status, and after how many seconds to look again; undefined where it has ended. */
interface JobProgress extends Pick<z.infer<typeof JobProjection>, 'id' | 'status'> {
  readonly next_look_seconds: number | undefined;
}

/**
 * The status of a job; undefined when the user has none of this id. Strongly consistent: 1 read
 * unit for each 4 KB of the job's row; while it is PENDING also what getQueuedBatch costs for its
 * batch.
 */
export async function getJobProgress(
  db: Db<'Batches' | 'Jobs' | 'DeviceQueue'>,
  userId: string,
  jobId: string,
): Promise<JobProgress | undefined> {
  const job = await getRow(db, { table: 'Jobs', key: { user_id: userId, id: jobId }, schema: JobStatusOfRow });
  if (job === undefined) return undefined;
  const { id, batch_id, status } = job;
  const batch = status === 'PENDING' ? await getQueuedBatch(db, userId, batch_id) : undefined;
  // Of a batch that has just ended the job ends as well.
  const waiting = (batch && secondsToNextLook(batch)) ?? 1;
  return { id, status, next_look_seconds: isFinalJob(job) ? undefined : waiting };
}
