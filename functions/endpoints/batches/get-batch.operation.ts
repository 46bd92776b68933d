import type { Operation } from '../../http/operation.ts';
import { BatchDetails, BatchPath } from '../../schemas/batch.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Get a batch',
  description: `A batch with its sequence, the ids of its jobs and, if they are at most 100 and fit into one answer, the jobs. Shows what has just
been written.`,
  path: BatchPath,
  success: { status: 200, data: () => BatchDetails },
  errors: ['not_found'],
} satisfies Operation;
