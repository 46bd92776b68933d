import type { Operation } from '../../http/operation.ts';
import { Batch, BatchPath } from '../../schemas/batch.ts';
import { endedByAdministrators } from '../../schemas/claims.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Cancel a batch',
  description: `Closes a batch and cancels all its unfinished jobs at once. Canceling it again changes nothing; if it ended in
another way, the call is refused. More than about 60 jobs take several transactions: the batch closes first and is \`CANCELED\`
last. A call that cannot end in time stops at 20 s (429, \`unfinished\`). If it stops, or dies part-way, repeat it, or wait: the
service completes it within 15 minutes. ${endedByAdministrators}`,
  path: BatchPath,
  success: { status: 200, data: Batch },
  errors: ['not_the_owner', 'not_found', 'batch_ended', 'too_many_changes', 'unfinished'],
} satisfies Operation;
