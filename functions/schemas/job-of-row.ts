import * as z from 'zod/mini';
import { JsonText } from './row-values.ts';
import { Count, JobOrigin, JobStatus, NullableTimestamp, NullableUuid, Timestamp, Uuid } from './values.ts';

/** Reads from a row what a Job shows of it. */
export const JobOfRow = z.object({
  id: Uuid,
  parent_id: NullableUuid,
  batch_id: Uuid,
  project_id: Uuid,
  user_id: z.string(),
  status: JobStatus,
  runs: Count,
  origin: JobOrigin,
  creation_order: Count,
  created_at: Timestamp,
  updated_at: Timestamp,
  start_timestamp: NullableTimestamp,
  end_timestamp: NullableTimestamp,
  variables: z.nullable(JsonText),
  errors: z.nullable(z.array(z.string())),
});
