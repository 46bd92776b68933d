import type { Operation } from '../../http/operation.ts';
import { Batch } from '../../schemas/batch.ts';
import { jsonBody } from '../../schemas/json-body.ts';
import { BatchOfUserPath, CancelRequest } from '../../schemas/operator-act.ts';

export const operation = {
  tag: 'For operators',
  summary: 'Cancel the batch of a user',
  description: `Cancels as the owner's own call does. The \`errors\` of its unfinished jobs, and the \`device_status\` of the batch, say "An operator
canceled the batch: REASON". If the batch is canceled or being canceled already, nothing changes, and its reason stays: so you can
repeat the call after 429. The audit trail gets one row, with the first transaction.`,
  operator: true,
  path: BatchOfUserPath,
  body: jsonBody(CancelRequest),
  success: { status: 200, data: Batch },
  errors: ['not_found', 'batch_ended', 'unfinished'],
} satisfies Operation;
