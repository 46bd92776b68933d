import type { Operation } from '../../http/operation.ts';
import { JobPath, JobProgress } from '../../schemas/job.ts';

export const operation = {
  tag: 'Jobs',
  summary: 'Get the status of a job',
  description: 'What a client that waits for the job needs.',
  path: JobPath,
  success: { status: 200, data: () => JobProgress },
  errors: [404],
} satisfies Operation;
