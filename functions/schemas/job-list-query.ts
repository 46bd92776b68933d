import * as z from 'zod';
import { JobOrigin, JobStatus } from './job.ts';
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

/** The columns a job list sorts by. */
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
] as const;

/** Query of the job list, read from the values of each parameter. Filters AND together, the values of one OR. */
export const JobListQuery = z
  .object({
    ...orderAndPage([...jobOrderings, 'ordered_id'], 'created_at'),
    id: list(UuidText).exactOptional().describe('Job ids.'),
    id__starts_with: scalar(IdPrefix).exactOptional().describe('First characters of the job id.'),
    batch_id: list(UuidText).exactOptional().describe('Batches of the jobs.'),
    project_id: list(UuidText).exactOptional().describe('Owner project.'),
    user_id: list(Text).exactOptional().describe('Owner user.'),
    status: list(JobStatus).exactOptional().describe('Job status.'),
    origin: list(JobOrigin).exactOptional().describe('Where the job came from.'),
    min_runs: scalar(AnyInteger).exactOptional().describe('Minimum number of runs.'),
    max_runs: scalar(AnyInteger).exactOptional().describe('Maximum number of runs.'),
    errors: scalar(BooleanText).exactOptional().describe('Whether the job has errors.'),
    start_date: scalar(TimestampText).exactOptional().describe('Jobs that started at this time or later.'),
    end_date: scalar(TimestampText).exactOptional().describe('Jobs that ended by this time.'),
  })
  .transform(({ order_by, ...query }) => ({
    ...query,
    order_by: order_by === 'ordered_id' ? ('creation_order' as const) : order_by,
  }));
export type JobListQuery = z.output<typeof JobListQuery>;
