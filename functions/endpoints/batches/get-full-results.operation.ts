import type { Operation } from '../../http/operation.ts';
import { BatchPath } from '../../schemas/batch.ts';
import { readByRole } from '../../schemas/claims.ts';
import { ResultsOfJobs, ResultsQuery } from '../../schemas/results.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Get the results of a batch',
  description: `The results documents of the batch’s jobs by job id, each as uploaded. Jobs without results are left out, and so
are results that were never uploaded, and documents that are no JSON objects: download these with \`results_link\`. If the documents
exceed one answer (6 MB with every quotation mark escaped), the call is refused (422): ask for fewer jobs by \`job_id\`, or use the
links. Repeat \`job_id\` to give it several values. ${readByRole}`,
  path: BatchPath,
  query: ResultsQuery,
  success: { status: 200, data: () => ResultsOfJobs },
  errors: ['not_found', 'too_many_downloads'],
} satisfies Operation;
