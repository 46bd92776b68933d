import type { Operation } from '../../http/operation.ts';
import { BatchPath } from '../../schemas/batch.ts';
import { CanceledJobs } from '../../schemas/job.ts';
import { CancelJobsQuery } from '../../schemas/job-selection.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Cancel jobs of a batch',
  description:
    'Cancels unfinished jobs of a batch: those that match all filters, or without filters all of them. Answers with the jobs that are canceled now. `errors` names those that ended in another way, and ids that the batch does not have. If a call dies on its way, repeat it, or wait: the service completes it within 15 minutes.',
  path: BatchPath,
  query: CancelJobsQuery,
  success: { status: 200, data: () => CanceledJobs },
  errors: ['not_found'],
} satisfies Operation;
