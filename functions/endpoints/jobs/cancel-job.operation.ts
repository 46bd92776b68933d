import type { Operation } from '../../http/operation.ts';
import { endedByAdministrators } from '../../schemas/claims.ts';
import { Job, JobPath } from '../../schemas/job.ts';

export const operation = {
  tag: 'Jobs',
  summary: 'Cancel a job',
  description: `Cancels an unfinished job at once. A closed batch ends with its last job. Canceling the job again changes nothing;
if it ended in another way, the call is refused. ${endedByAdministrators}`,
  path: JobPath,
  success: { status: 200, data: Job },
  errors: ['not_the_owner', 'not_found', 'job_ended'],
} satisfies Operation;
