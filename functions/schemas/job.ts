import * as z from 'zod';
import { JsonObject, Timestamp, Uuid } from './values.ts';

/** In the order in which they sort. */
export const JobStatus = z.enum(['PENDING', 'RUNNING', 'DONE', 'ERROR', 'CANCELED', 'CANCELING']);
export type JobStatus = z.infer<typeof JobStatus>;

/** Where a job came from. */
export const JobOrigin = z.enum(['CLIENT', 'AZURE', 'OVH', 'UNKNOWN']);
export type JobOrigin = z.infer<typeof JobOrigin>;

/** A job as the list shows it, without its results: every key always present. */
export const Job = z
  .strictObject({
    id: Uuid.describe('Id of the job.'),
    parent_id: Uuid.nullable().describe('The job that this one repeats.'),
    batch_id: Uuid.describe('Batch of the job.'),
    project_id: Uuid.describe('Project that owns the job.'),
    user_id: z.string().describe('User who owns the job: the caller.'),
    status: JobStatus.describe('Where the job is in its life.'),
    runs: z.int().nonnegative().describe('Number of times the sequence is run.'),
    origin: JobOrigin.describe('Where the job came from.'),
    creation_order: z.int().nonnegative().describe('Place within its batch, from 0, without gaps.'),
    created_at: Timestamp.describe('When the job was created.'),
    updated_at: Timestamp.describe('When the job last changed.'),
    start_timestamp: Timestamp.nullable().describe('When the job started.'),
    end_timestamp: Timestamp.nullable().describe('When the job ended.'),
    variables: JsonObject.nullable().describe('Values of the sequence’s variables.'),
    errors: z.array(z.string()).nullable().describe('What went wrong.'),
  })
  .meta({ id: 'ProducedPartialJobResponseV2' });
export type Job = z.infer<typeof Job>;
