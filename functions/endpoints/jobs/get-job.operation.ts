import type { Operation } from '../../http/operation.ts';
import { readByRole } from '../../schemas/claims.ts';
import { JobPath, ReadJob } from '../../schemas/job.ts';

export const operation = {
  tag: 'Jobs',
  summary: 'Get a job',
  description: `A job, with its own sequence if it has one. ${readByRole} Strongly consistent. Get its results with \`results_link\`.`,
  path: JobPath,
  success: { status: 200, data: ReadJob },
  errors: ['not_found'],
} satisfies Operation;
