import type { Operation } from '../../http/operation.ts';
import { JobPath, JobWithSequence } from '../../schemas/job.ts';

export const operation = {
  tag: 'Jobs',
  summary: 'Get a job',
  description: 'A job with its own sequence. Shows what has just been written. `results_link` leads to its results.',
  path: JobPath,
  success: { status: 200, data: () => JobWithSequence },
  errors: ['not_found'],
} satisfies Operation;
