import type { Operation } from '../../http/operation.ts';
import { Job, JobPath } from '../../schemas/job.ts';

export const operation = {
  tag: 'Jobs',
  summary: 'Cancel a job',
  description:
    'Cancels an unfinished job, at once. A closed batch ends with the last of its jobs. A canceled job stays as it is; one that ended otherwise is 409.',
  path: JobPath,
  success: { status: 200, data: () => Job },
  errors: [404, 409],
} satisfies Operation;
