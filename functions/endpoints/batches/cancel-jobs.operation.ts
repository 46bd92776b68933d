import type { Operation } from '../../http/operation.ts';
import { BatchPath } from '../../schemas/batch.ts';
import { CanceledJobs } from '../../schemas/job.ts';
import { CancelJobsQuery } from '../../schemas/job-selection.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Cancel jobs of a batch',
  description:
    'Cancels those jobs of a batch that match all filters: all unfinished ones without any. Answers with the jobs that are canceled now; those that have ended otherwise, and ids that the batch does not have, are reported under `errors`. A call that did not come to its end can be repeated; the service completes it within 15 minutes.',
  path: BatchPath,
  query: CancelJobsQuery,
  success: { status: 200, data: () => CanceledJobs },
  errors: [404],
} satisfies Operation;
