import * as z from 'zod/mini';
import { JobOfRow } from './job-of-row.ts';
import { JsonObject } from './values.ts';

/** A job as the list shows it, without its results: every key always present. */
export const Job = z.strictObject({ ...JobOfRow.shape, variables: z.nullable(JsonObject) });
export type Job = z.infer<typeof Job>;

/** What the OpenAPI document says of them. */
export const jobDescriptions = {
  id: 'Id of the job.',
  parent_id: 'The job that this one repeats.',
  batch_id: 'Batch of the job.',
  project_id: 'Project that owns the job.',
  user_id: 'User who owns the job: the caller.',
  status: 'Where the job is in its life.',
  runs: 'Number of times the sequence is run.',
  origin: 'Where the job came from.',
  creation_order: 'Place within its batch, from 0, without gaps.',
  created_at: 'When the job was created.',
  updated_at: 'When the job last changed.',
  start_timestamp: 'When the job started.',
  end_timestamp: 'When the job ended.',
  variables: 'Values of the sequence’s variables.',
  errors: 'What went wrong.',
} satisfies Record<keyof Job, string>;
