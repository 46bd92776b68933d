import type { Operation } from '../../http/operation.ts';
import { BatchPath } from '../../schemas/batch.ts';
import { ResultsOfJobs } from '../../schemas/results.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Get the results of a batch',
  description:
    'The results documents of the batch’s jobs, as they were uploaded; jobs without one are left out. If they exceed one answer, the call is refused (422): `results_link` leads to those of each job.',
  path: BatchPath,
  success: { status: 200, data: () => ResultsOfJobs },
  errors: ['not_found'],
} satisfies Operation;
