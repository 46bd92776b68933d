import * as z from 'zod/mini';
import { JsonText } from './row-values.ts';
import {
  BatchStatus,
  Count,
  JobStatus,
  NullableText,
  NullableTimestamp,
  NullableUuid,
  QueuePriority,
  Timestamp,
  Uuid,
} from './values.ts';

/** Reads from a row what a Batch shows of it: all but `complete`, which follows from `open`. */
export const BatchOfRow = z.object({
  id: Uuid,
  parent_id: NullableUuid,
  project_id: Uuid,
  user_id: z.string(),
  status: BatchStatus,
  open: z.boolean(),
  device_type: z.string().register(z.globalRegistry, { examples: ['EMU_MPS', 'FRESNEL'] }),
  queue_priority: QueuePriority,
  tags: z.array(z.string()),
  jobs_count: Count,
  jobs_count_per_status: z.strictObject(
    Object.fromEntries(JobStatus.options.map((status) => [status, Count])) as Record<JobStatus, typeof Count>,
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
  start_datetime: NullableTimestamp,
  end_datetime: NullableTimestamp,
  device_status: NullableText,
  webhook: NullableText,
  configuration: z.nullable(JsonText),
  backend_configuration: NullableText,
});
