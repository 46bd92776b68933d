import type { Operation } from '../../http/operation.ts';
import { Batch, BatchPath } from '../../schemas/batch.ts';
import { endedByAdministrators } from '../../schemas/claims.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Close a batch',
  description: `Closes a batch: it takes no further jobs and cannot be reopened. It ends with its last job, or at once if all its jobs have ended. Closing it again changes nothing. ${endedByAdministrators}`,
  path: BatchPath,
  success: { status: 200, data: Batch },
  errors: ['not_the_owner', 'not_found'],
} satisfies Operation;
