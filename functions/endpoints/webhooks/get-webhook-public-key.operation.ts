import type { Operation } from '../../http/operation.ts';
import { WebhookPublicKey } from '../../schemas/webhook.ts';

export const operation = {
  tag: 'Webhooks',
  summary: 'Get the public key of webhooks',
  description:
    'The keys that verify webhooks, with or without a token. A message is genuine if one of its signatures (`v1a`) is valid under one of these keys.',
  success: { status: 200, data: WebhookPublicKey },
} satisfies Operation;
