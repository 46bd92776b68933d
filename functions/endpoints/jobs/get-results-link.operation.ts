import type { Operation } from '../../http/operation.ts';
import { JobPath, ResultsLink } from '../../schemas/job.ts';

export const operation = {
  tag: 'Jobs',
  summary: 'Get a link to the results of a job',
  description:
    'A link that downloads the results as JSON, without a token, for some minutes; null while the job has no results.',
  path: JobPath,
  success: { status: 200, data: ResultsLink },
  errors: [404],
} satisfies Operation;
