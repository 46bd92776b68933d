import type { Operation } from '../../http/operation.ts';
import { Batch, BatchPath } from '../../schemas/batch.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Cancel a batch',
  description:
    'Closes a batch, and cancels it with all its unfinished jobs, at once. A canceled batch stays as it is; one that ended otherwise is 409. A call that did not come to its end can be repeated; the service completes it within 15 minutes.',
  path: BatchPath,
  success: { status: 200, data: () => Batch },
  errors: [404, 409],
} satisfies Operation;
