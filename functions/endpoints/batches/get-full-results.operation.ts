import type { Operation } from '../../http/operation.ts';
import { BatchPath } from '../../schemas/batch.ts';
import { ResultsOfJobs } from '../../schemas/results.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Get the results of a batch',
  description:
    'The results documents of those jobs of the batch that have one, as they were uploaded. Where they exceed one answer, 422: `results_link` leads to those of each job.',
  path: BatchPath,
  success: { status: 200, data: () => ResultsOfJobs },
  errors: [404],
} satisfies Operation;
