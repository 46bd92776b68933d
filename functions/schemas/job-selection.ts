/**
 * The query strings that choose some of a batch's jobs: to be canceled, or to be run again. Without
 * any, all are chosen.
 */

import * as z from 'zod/mini';
import { IdsFilter, IntegerFilter, many, TimeFilter } from './query-parameters.ts';
import { JobStatus } from './values.ts';

const selection = {
  id: IdsFilter,
  min_runs: IntegerFilter,
  max_runs: IntegerFilter,
  start_date: TimeFilter,
  end_date: TimeFilter,
};

/** What the OpenAPI document says of them. */
const fields = {
  id: 'Ids of jobs.',
  min_runs: 'Minimum number of runs. A job without a number of runs does not match.',
  max_runs: 'Maximum number of runs. A job without a number of runs does not match.',
  start_date: 'Created at this time or later.',
  end_date: 'Created at this time or earlier.',
  status: 'Statuses of jobs.',
} satisfies Record<keyof typeof selection | 'status', string>;

export const CancelJobsQuery = z.object(selection).register(z.globalRegistry, { fields });
export type CancelJobsQuery = z.output<typeof CancelJobsQuery>;

/** Jobs to be run again. */
export const RebatchQuery = z.object({ ...selection, status: many(JobStatus) }).register(z.globalRegistry, { fields });
export type RebatchQuery = z.output<typeof RebatchQuery>;
