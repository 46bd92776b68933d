import type { Operation } from '../../http/operation.ts';
import { BatchPath } from '../../schemas/batch.ts';
import { WebhookDelivery } from '../../schemas/webhook.ts';

export const operation = {
  tag: 'Webhooks',
  summary: 'Test the webhook of a batch',
  description: [
    'Sends one signed message of the type `webhook.test` to the webhook now, and returns the receiver’s answer, or after 15 s that there was none.',
    'The batch may have ended. A user may send 10 tests in a minute, and 3 at once. 429: these were sent, or the host was called too often in this minute.',
  ].join(' '),
  path: BatchPath,
  success: { status: 200, data: WebhookDelivery },
  errors: ['not_the_owner', 'not_found', 'no_webhook', 'too_many_tests'],
} satisfies Operation;
