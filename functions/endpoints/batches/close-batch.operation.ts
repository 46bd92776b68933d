import type { Operation } from '../../http/operation.ts';
import { Batch, BatchPath } from '../../schemas/batch.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Close a batch',
  description:
    'Closes a batch for further jobs, for ever. It ends with the last of its jobs, or at once when all of them have ended. A closed batch stays as it is.',
  path: BatchPath,
  success: { status: 200, data: () => Batch },
  errors: [404],
} satisfies Operation;
