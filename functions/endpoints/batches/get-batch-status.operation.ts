import type { Operation } from '../../http/operation.ts';
import { BatchPath, BatchProgress } from '../../schemas/batch.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Get the status of a batch',
  description: 'The status and the number of jobs in each status: what a client asks for while it waits for the batch.',
  path: BatchPath,
  success: { status: 200, data: () => BatchProgress },
  errors: ['not_found'],
} satisfies Operation;
