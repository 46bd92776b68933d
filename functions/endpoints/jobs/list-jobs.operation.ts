import type { Operation } from '../../http/operation.ts';
import { ListedJob } from '../../schemas/job.ts';
import { JobListQuery } from '../../schemas/job-list-query.ts';
import { listRules } from '../../schemas/query-parameters.ts';

export const operation = {
  tag: 'Jobs',
  summary: 'Get jobs',
  description: `The caller’s jobs, without their results. ${listRules}`,
  query: JobListQuery,
  success: { status: 200, list: ListedJob, headers: ['Content-Range'] },
} satisfies Operation;
