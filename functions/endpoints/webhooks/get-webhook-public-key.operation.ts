import type { Operation } from '../../http/operation.ts';
import { WebhookPublicKey } from '../../schemas/webhook.ts';

export const operation = {
  tag: 'Webhooks',
  summary: 'Get the public key of webhooks',
  description:
    'What receivers verify the signatures of webhooks with, with or without a token: a message is genuine when one of its signatures (`v1a`) is valid under one of these keys.',
  success: { status: 200, data: () => WebhookPublicKey },
} satisfies Operation;
