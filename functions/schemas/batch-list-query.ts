import * as z from 'zod';
import { BatchStatus, QueuePriority } from './batch.ts';
import {
  AnyInteger,
  BooleanText,
  IdPrefix,
  list,
  orderAndPage,
  scalar,
  Text,
  TimestampText,
  UuidText,
} from './query-values.ts';

/** The columns a batch list sorts by. */
export const batchOrderings = [
  'created_at',
  'updated_at',
  'start_datetime',
  'end_datetime',
  'id',
  'status',
  'device_type',
  'project_id',
  'queue_priority',
  'jobs_count',
  'open',
] as const;

/**
 * Query of the batch list, read from the values of each parameter. Filters AND together, the values of one OR: so an
 * empty `id`, which stands for filters that contradict each other, matches nothing.
 */
export const BatchListQuery = z
  .object({
    ...orderAndPage(batchOrderings, 'created_at'),
    id: list(UuidText).exactOptional().describe('Batch ids.'),
    id__starts_with: scalar(IdPrefix).exactOptional().describe('First characters of the batch id.'),
    project_id: list(UuidText).exactOptional().describe('Owner project.'),
    user_id: list(Text).exactOptional().describe('Owner user.'),
    device_type: list(Text.meta({ examples: ['EMU_FREE', 'EMU_MPS', 'FRESNEL'] }))
      .exactOptional()
      .describe('Device type.'),
    status: list(BatchStatus).exactOptional().describe('Batch status.'),
    complete: scalar(BooleanText)
      .exactOptional()
      .describe('Whether the batch is closed: use `open` instead.')
      .meta({ deprecated: true }),
    open: scalar(BooleanText).exactOptional().describe('Whether the batch is still open.'),
    min_jobs: scalar(AnyInteger).exactOptional().describe('Minimum number of jobs in the batch.'),
    max_jobs: scalar(AnyInteger).exactOptional().describe('Maximum number of jobs in the batch.'),
    start_date: scalar(TimestampText)
      .exactOptional()
      .describe('Batches that the emulator or QPU indicated to have started at this time or later.'),
    end_date: scalar(TimestampText)
      .exactOptional()
      .describe('Batches that the emulator or QPU indicated to have finished, failed or been canceled by this time.'),
    queue_priority: list(QueuePriority).exactOptional().describe('Queue priority.'),
    tag: scalar(Text).exactOptional().describe('Tag identifying the batch.'),
  })
  .transform(({ complete, ...query }) => {
    if (complete === undefined) return query;
    return complete === query.open ? { ...query, id: [] } : { ...query, open: !complete };
  });
export type BatchListQuery = z.output<typeof BatchListQuery>;
