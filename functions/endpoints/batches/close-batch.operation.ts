import type { Operation } from '../../http/operation.ts';
import { Batch, BatchPath } from '../../schemas/batch.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Close a batch',
  description:
    'Closes a batch for good: it takes no further jobs. It ends with its last job, or at once when all its jobs have ended. Closing it again changes nothing.',
  path: BatchPath,
  success: { status: 200, data: () => Batch },
  errors: ['not_found'],
} satisfies Operation;
