import type { Operation } from '../../http/operation.ts';
import { Batch, BatchPath } from '../../schemas/batch.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Cancel a batch',
  description: `Closes a batch and cancels all its unfinished jobs at once. Canceling it again changes nothing; a batch that ended in another
way is refused. More than about 60 jobs take several transactions: the batch closes first and is \`CANCELED\` last. At 20 s a call that would
not end in time stops (429, \`unfinished\`). If it does, or dies part-way, repeat it, or wait: the service completes it within 15 minutes.`,
  path: BatchPath,
  success: { status: 200, data: () => Batch },
  errors: ['not_found', 'batch_ended', 'unfinished'],
} satisfies Operation;
