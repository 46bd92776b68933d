import type { Operation } from '../../http/operation.ts';
import { BatchPath } from '../../schemas/batch.ts';
import { endedByAdministrators } from '../../schemas/claims.ts';
import { CanceledJobs } from '../../schemas/job.ts';
import { CancelJobsQuery } from '../../schemas/job-selection.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Cancel jobs of a batch',
  description: `Cancels the unfinished jobs of a batch that match all filters, or all of them without filters. Answers with the
canceled jobs. \`errors\` lists jobs that ended in another way, and ids that are not in the batch. A repeated call changes nothing.
If a call dies part-way or stops (429, \`unfinished\`), repeat it, or wait: the service completes it within 15 minutes.
${endedByAdministrators}`,
  path: BatchPath,
  query: CancelJobsQuery,
  success: { status: 200, data: CanceledJobs },
  errors: ['not_the_owner', 'not_found', 'too_many_changes', 'unfinished'],
} satisfies Operation;
