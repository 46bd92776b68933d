import { getBatch } from '../../data/batches.ts';
import { testWebhook } from '../../data/call-webhook.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { secretsManager } from '../../data/secrets-manager.ts';
import { getWebhookKeys } from '../../data/webhook-keys.ts';
import { requiredEnv, tableNames, webhookReach } from '../../env.ts';
import { requireFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { millisecondsLeft } from '../../request-lifetime.ts';
import { routes } from '../../routes.ts';
import { operation } from './test-webhook.operation.ts';

/** Kept back from the function's time to store what came of the call, and to answer. */
const reservedMilliseconds = 3_000;

const get = getBatch(documentClient(), tableNames('Batches'));
const test = testWebhook(documentClient(), tableNames('WebhookAttempts', 'Counters'), {
  keys: getWebhookKeys(secretsManager(), requiredEnv('WEBHOOK_KEY_ARN')),
  reach: webhookReach(),
});

export const handler = endpoint(routes.testWebhook, operation, async ({ userId, path }) => {
  const batch = requireFound(await get(userId, path.batch_id), 'batch');
  return success(await test(batch, millisecondsLeft() - reservedMilliseconds));
});
