import type { Operation } from '../../http/operation.ts';
import { BatchPath, ReadBatch } from '../../schemas/batch.ts';
import { readByRole } from '../../schemas/claims.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Get a batch',
  description: `A batch with its sequence and the ids of its jobs. It includes the jobs if there are at most 100 and they fit into
one answer. ${readByRole} Strongly consistent.`,
  path: BatchPath,
  success: { status: 200, data: ReadBatch },
  errors: ['not_found'],
} satisfies Operation;
