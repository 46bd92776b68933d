import type { Operation } from '../../http/operation.ts';
import { readByRole } from '../../schemas/claims.ts';
import { nextLook } from '../../schemas/estimate.ts';
import { JobPath, JobProgress } from '../../schemas/job.ts';

export const operation = {
  tag: 'Jobs',
  summary: 'Get the status of a job',
  description: `What a client asks for while it waits for a job: the status alone. ${readByRole} Shows what has just been written. ${nextLook}`,
  path: JobPath,
  success: { status: 200, headers: ['Retry-After'], data: JobProgress },
  errors: ['not_found'],
} satisfies Operation;
