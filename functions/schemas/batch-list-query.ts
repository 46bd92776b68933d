import * as z from 'zod/mini';
import {
  BooleanText,
  CountBy,
  FlagFilter,
  IntegerFilter,
  listFields,
  many,
  one,
  orderAndPage,
  ownerFilters,
  Text,
  TextsFilter,
  TimeFilter,
} from './query-parameters.ts';
import { BatchStatus, QueuePriority } from './values.ts';

/** What a batch list sorts by. */
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
  'complete',
  'start_date',
  'end_date',
  'user_id',
] as const;

const DeviceType = z
  .string()
  .register(z.globalRegistry, { ...z.globalRegistry.get(Text), examples: ['EMU_FREE', 'EMU_MPS', 'FRESNEL'] });

const fields = {
  ...listFields('Batch', 'Batches'),
  device_type: 'Device type.',
  status: 'Batch status.',
  complete: 'Whether the batch is closed: use `open` instead.',
  open: 'Whether the batch is still open.',
  min_jobs: 'Minimum number of jobs in the batch.',
  max_jobs: 'Maximum number of jobs in the batch.',
  start_date: 'Batches that the emulator or QPU indicated to have started at this time or later.',
  end_date: 'Batches that the emulator or QPU indicated to have finished, failed or been canceled by this time.',
  queue_priority: 'Queue priority.',
  has_errors: 'Whether a job of the batch is `ERROR`. The batch itself may be `DONE`.',
  tag: 'Tags: batches that have one of them.',
};

/**
 * Query of the batch list, read from the values of each parameter. Filters AND together, the values
 * of one OR: so an empty `id`, made from filters that contradict each other, matches
 * nothing.
 */
export const BatchListQuery = z.pipe(
  z
    .object({
      ...orderAndPage(batchOrderings, { id: 'BatchOrder', defaultField: 'created_at' }),
      ...ownerFilters,
      count_by: CountBy,
      device_type: many(DeviceType),
      status: many(BatchStatus),
      complete: one(BooleanText).register(z.globalRegistry, { deprecated: true }),
      open: FlagFilter,
      min_jobs: IntegerFilter,
      max_jobs: IntegerFilter,
      start_date: TimeFilter,
      end_date: TimeFilter,
      queue_priority: many(QueuePriority),
      has_errors: FlagFilter,
      tag: TextsFilter,
    })
    .register(z.globalRegistry, { fields }),
  z.transform(({ complete, ...query }) => {
    if (complete === undefined) return query;
    return complete === query.open ? { ...query, id: [] } : { ...query, open: !complete };
  }),
);
export type BatchListQuery = z.output<typeof BatchListQuery>;
