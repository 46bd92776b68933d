import type { Operation } from '../../http/operation.ts';
import { BatchPath, BatchProgress } from '../../schemas/batch.ts';
import { readByRole } from '../../schemas/claims.ts';
import { nextLook } from '../../schemas/estimate.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Get the status of a batch',
  description: `What a client asks for while it waits for a batch: the status, the number of jobs in each status, the place in the queue, when it
is likely to start, and the last call of the webhook. ${readByRole} Shows what has just been written. ${nextLook}`,
  path: BatchPath,
  success: { status: 200, headers: ['Retry-After'], data: BatchProgress },
  errors: ['not_found'],
} satisfies Operation;
