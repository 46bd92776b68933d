import type { Operation } from '../../http/operation.ts';
import { CanceledBatches } from '../../schemas/batch.ts';
import { CancelBatchesRequest } from '../../schemas/batch-request.ts';
import { jsonBody } from '../../schemas/json-body.ts';

export const operation = {
  tag: 'Batches',
  summary: 'Cancel several batches',
  description:
    'Cancels up to 100 batches, each as `cancelBatch` does. `errors` names those that could not be canceled, with the reason. Large batches that the call had no time for are among them: they are closed, and the service cancels them within 15 minutes.',
  body: jsonBody(CancelBatchesRequest),
  bodySchema: () => CancelBatchesRequest,
  success: { status: 200, data: () => CanceledBatches },
} satisfies Operation;
