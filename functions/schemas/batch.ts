import * as z from 'zod/mini';
import { BatchOfRow } from './batch-of-row.ts';
import { JsonObject } from './values.ts';

/** A batch as the list shows it: every key always present. */
export const Batch = z.strictObject({
  ...BatchOfRow.shape,
  complete: z.boolean(),
  configuration: z.nullable(JsonObject),
});
export type Batch = z.infer<typeof Batch>;

/** What the OpenAPI document says of them. */
export const batchDescriptions = {
  id: 'Id of the batch.',
  parent_id: 'The batch that this one repeats.',
  project_id: 'Project that owns the batch.',
  user_id: 'User who owns the batch: the caller.',
  status: 'Where the batch is in its life.',
  open: 'Whether the batch still accepts jobs.',
  complete: 'Deprecated: the opposite of `open`.',
  device_type: 'Emulator or QPU that the batch is for.',
  queue_priority: 'Which batches it waits with.',
  tags: 'Tags that identify the batch.',
  jobs_count: 'Number of jobs, in whatever status.',
  jobs_count_per_status: 'Number of jobs in each status, zeros included.',
  created_at: 'When the batch was created.',
  updated_at: 'When the batch last changed.',
  start_datetime: 'When the emulator or QPU said that the batch started.',
  end_datetime: 'When the emulator or QPU said that the batch finished, failed or was canceled.',
  device_status: 'What the device last said of itself.',
  webhook: 'URL that is told of the batch.',
  configuration: 'Configuration of the emulator.',
  backend_configuration: 'Configuration of the backend, serialized.',
} satisfies Record<keyof Batch, string>;
