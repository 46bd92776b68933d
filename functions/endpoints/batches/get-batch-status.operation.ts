import type { Operation } from '../../http/operation.ts';
import { BatchPath, BatchProgress } from '../../schemas/batch.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Get the status of a batch',
  description: 'What a client that waits for the batch needs: its status and the number of its jobs in each status.',
  path: BatchPath,
  success: { status: 200, data: () => BatchProgress },
  errors: [404],
} satisfies Operation;
