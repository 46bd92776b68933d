import { secretsManager } from '../../data/secrets-manager.ts';
import { getWebhookKeys } from '../../data/webhook-keys.ts';
import { requiredEnv } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-webhook-public-key.operation.ts';

const keys = getWebhookKeys(secretsManager(), requiredEnv('WEBHOOK_KEY_ARN'));

export const handler = endpoint(routes.getWebhookPublicKey, operation, async () => {
  const [current, previous] = await keys();
  return success({ public_key: current.publicKey, previous_public_key: previous?.publicKey ?? null });
});
