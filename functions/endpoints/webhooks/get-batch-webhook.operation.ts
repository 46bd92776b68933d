import type { Operation } from '../../http/operation.ts';
import { BatchPath } from '../../schemas/batch.ts';
import { readByRole } from '../../schemas/claims.ts';
import { BatchWebhook } from '../../schemas/webhook.ts';

export const operation = {
  tag: 'Webhooks',
  summary: 'Get the webhook of a batch',
  description: `The webhook of a batch and its last ten calls, newest first, with what the receiver answered. ${readByRole}`,
  path: BatchPath,
  success: { status: 200, data: BatchWebhook },
  errors: ['not_found'],
} satisfies Operation;
