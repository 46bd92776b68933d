import * as z from 'zod/mini';
import { idSpelling } from './id-and-time-texts.ts';
import {
  CountBy,
  FlagFilter,
  IdsFilter,
  IntegerFilter,
  listFields,
  many,
  orderAndPage,
  ownerFilters,
  TimeFilter,
} from './query-parameters.ts';
import { JobOrigin, JobStatus } from './values.ts';

/** What a job list sorts by. */
export const jobOrderings = [
  'created_at',
  'updated_at',
  'creation_order',
  'start_timestamp',
  'end_timestamp',
  'id',
  'batch_id',
  'project_id',
  'status',
  'runs',
  'origin',
  'ordered_id',
  'start_date',
  'end_date',
  'user_id',
] as const;

const fields = {
  ...listFields('Job', 'Jobs'),
  batch_id: `Batches of the jobs. ${idSpelling}`,
  status: 'Job status.',
  origin: 'Where the job came from.',
  min_runs: 'Minimum number of runs; jobs without a number do not match.',
  max_runs: 'Maximum number of runs; jobs without a number do not match.',
  errors: 'Whether the job has errors.',
  start_date: 'Jobs that started at this time or later.',
  end_date: 'Jobs that ended by this time.',
};

/**
 * Query of the job list, read from the values of each parameter. Filters AND together, the values
 * of one OR.
 */
export const JobListQuery = z
  .object({
    ...orderAndPage(jobOrderings, { id: 'JobOrder', defaultField: 'created_at' }),
    ...ownerFilters,
    count_by: CountBy,
    batch_id: IdsFilter,
    status: many(JobStatus),
    origin: many(JobOrigin),
    min_runs: IntegerFilter,
    max_runs: IntegerFilter,
    errors: FlagFilter,
    start_date: TimeFilter,
    end_date: TimeFilter,
  })
  .register(z.globalRegistry, { fields });
export type JobListQuery = z.output<typeof JobListQuery>;
