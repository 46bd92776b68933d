import type { Operation } from '../../http/operation.ts';
import { BatchPath } from '../../schemas/batch.ts';
import { WebhookDelivery } from '../../schemas/webhook.ts';

export const operation = {
  tag: 'Webhooks',
  summary: 'Test the webhook of a batch',
  description: [
    'Sends a signed message of the type `webhook.test` to the webhook now, once, and says what the receiver answered, or after 15 s that it did not.',
    'The batch may have ended. 429 where the host was called too often in this minute.',
  ].join(' '),
  path: BatchPath,
  success: { status: 200, data: () => WebhookDelivery },
  errors: ['not_found', 'no_webhook'],
} satisfies Operation;
