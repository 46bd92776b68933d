import type { Operation } from '../../http/operation.ts';
import { Batch, BatchPath } from '../../schemas/batch.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Erase a batch',
  description: `Erases the content of a batch that has ended, for good: its sequence and those of its jobs, their \`variables\`, \`errors\` and
results, its \`tags\`, \`configuration\`, \`backend_configuration\` and \`webhook\`. Batch and jobs stay in the lists with their numbers,
statuses, times and counts; \`erased_at\` says when. Links to results answer 404 from then on, and links that were given out before lead
nowhere. Erasing a batch again changes nothing. Webhooks that are under way are dropped.

Thousands of jobs may take longer than a call: it stops (429, \`unfinished\`). If it does, or dies part-way, repeat it, or wait: the service
completes it within 15 minutes.`,
  path: BatchPath,
  success: { status: 200, data: () => Batch },
  errors: ['not_found', 'batch_not_ended', 'unfinished'],
} satisfies Operation;
