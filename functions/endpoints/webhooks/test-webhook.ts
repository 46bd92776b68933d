import { secretsManager } from '../../data/aws/secrets-manager.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { getBatch } from '../../data/rows/batches.ts';
import { testWebhook } from '../../data/webhooks/call-webhook.ts';
import { getWebhookKeys } from '../../data/webhooks/webhook-keys.ts';
import { requireFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { requiredEnv, tableNames, webhookReach } from '../../runtime/env.ts';
import { millisecondsLeft } from '../../runtime/request-lifetime.ts';
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
