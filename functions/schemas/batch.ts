import * as z from 'zod';
import { JobStatus } from './job.ts';
import { JsonObject, Timestamp, Uuid } from './values.ts';

/** In the order of the specification, which is also their sort order. */
export const BatchStatus = z.enum([
  'PENDING',
  'RUNNING',
  'DONE',
  'CANCELED',
  'CANCELING',
  'TIMED_OUT',
  'ERROR',
  'PAUSED',
]);
export type BatchStatus = z.infer<typeof BatchStatus>;

/** In the order of the specification, which is also their sort order. */
export const QueuePriority = z.enum(['CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'FREE']);
export type QueuePriority = z.infer<typeof QueuePriority>;

/** A batch as the list shows it: every key always present. */
export const Batch = z
  .strictObject({
    id: Uuid.describe('Id of the batch.'),
    parent_id: Uuid.nullable().describe('The batch that this one repeats.'),
    project_id: Uuid.describe('Project that owns the batch.'),
    user_id: z.string().describe('User who owns the batch: the caller.'),
    status: BatchStatus.describe('Where the batch is in its life.'),
    open: z.boolean().describe('Whether the batch still accepts jobs.'),
    complete: z.boolean().describe('Deprecated: the opposite of `open`.'),
    device_type: z
      .string()
      .describe('Emulator or QPU that the batch is for.')
      .meta({ examples: ['EMU_MPS', 'FRESNEL'] }),
    queue_priority: QueuePriority.describe('Which batches it waits with.'),
    tags: z.array(z.string()).describe('Tags that identify the batch.'),
    jobs_count: z.int().nonnegative().describe('Number of jobs, in whatever status.'),
    jobs_count_per_status: z
      .strictObject(
        Object.fromEntries(JobStatus.options.map((status) => [status, z.int().nonnegative()])) as Record<
          JobStatus,
          z.ZodInt
        >,
      )
      .describe('Number of jobs in each status, zeros included.'),
    created_at: Timestamp.describe('When the batch was created.'),
    updated_at: Timestamp.describe('When the batch last changed.'),
    start_datetime: Timestamp.nullable().describe('When the emulator or QPU said that the batch started.'),
    end_datetime: Timestamp.nullable().describe(
      'When the emulator or QPU said that the batch finished, failed or was canceled.',
    ),
    device_status: z.string().nullable().describe('What the device last said of itself.'),
    webhook: z.string().nullable().describe('URL that is told of the batch.'),
    configuration: JsonObject.nullable().describe('Configuration of the emulator.'),
    backend_configuration: z.string().nullable().describe('Configuration of the backend, serialized.'),
  })
  .meta({ id: 'ProducedBatchResponse' });
export type Batch = z.infer<typeof Batch>;
