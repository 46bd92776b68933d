import type { Operation } from '../../http/operation.ts';
import { CanceledBatches } from '../../schemas/batch.ts';
import { CancelBatchesRequest } from '../../schemas/batch-request.ts';
import { jsonBody } from '../../schemas/json-body.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Cancel several batches',
  description: `Cancels up to 100 batches, each as \`cancelBatch\` does, also for administrators of their projects. \`errors\` says why a batch was not canceled, by its id.
It also lists large batches that the call had no time for: they are closed, and the service completes them within 15 minutes.`,
  body: jsonBody(CancelBatchesRequest),
  success: { status: 200, data: CanceledBatches },
  errors: ['too_many_changes'],
} satisfies Operation;
