import { getPublicKeys } from '../../data/webhooks/webhook-keys.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-webhook-public-key.operation.ts';

export const handler = endpoint(routes.getWebhookPublicKey, operation, async ({ db }) =>
  success(await getPublicKeys(db)),
);
