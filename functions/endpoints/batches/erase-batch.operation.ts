import type { Operation } from '../../http/operation.ts';
import { Batch, BatchPath } from '../../schemas/batch.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Erase a batch',
  description: `Permanently erases the content of an ended batch: its sequence and its jobs’ sequences, their \`variables\`,
\`errors\` and results, its \`tags\`, \`configuration\`, \`backend_configuration\` and \`webhook\`. Batch and jobs stay in the lists
with their numbers, statuses, times and counts; \`erased_at\` says when. From then on \`results_link\` answers 404, and earlier
links do not work. Erasing a batch again changes nothing. Waiting messages to its webhook are dropped.

With thousands of jobs the call may run out of time (429, \`unfinished\`). If it stops, or dies part-way, repeat it, or wait: the
service completes it within 15 minutes.`,
  path: BatchPath,
  success: { status: 200, data: Batch },
  errors: ['not_the_owner', 'not_found', 'batch_not_ended', 'too_many_changes', 'unfinished'],
} satisfies Operation;
