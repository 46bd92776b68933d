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
    id: Uuid,
    parent_id: Uuid.nullable().describe('The job that this one repeats.'),
    batch_id: Uuid,
    project_id: Uuid,
    user_id: z.string(),
    status: JobStatus,
    runs: z.int().nonnegative().describe('Number of times the sequence is run.'),
    origin: JobOrigin,
    creation_order: z.int().nonnegative().describe('Place within its batch, from 0, without gaps.'),
    created_at: Timestamp,
    updated_at: Timestamp,
    start_timestamp: Timestamp.nullable(),
    end_timestamp: Timestamp.nullable(),
    variables: JsonObject.nullable().describe('Values of the sequence’s variables.'),
    errors: z.array(z.string()).nullable(),
  })
  .meta({ id: 'ProducedPartialJobResponseV2' });
export type Job = z.infer<typeof Job>;
