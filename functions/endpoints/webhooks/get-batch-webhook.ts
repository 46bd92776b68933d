import { documentClient } from '../../data/dynamodb/client.ts';
import { getBatch } from '../../data/rows/batches.ts';
import { getBatchWebhook } from '../../data/webhooks/webhook-attempts.ts';
import { requireFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames, webhookReach } from '../../runtime/env.ts';
import { operation } from './get-batch-webhook.operation.ts';

const get = getBatch(documentClient(), tableNames('Batches'));
const webhookOf = getBatchWebhook(documentClient(), tableNames('WebhookAttempts'), webhookReach());

export const handler = endpoint(routes.getBatchWebhook, operation, async ({ userId, path }) =>
  success(await webhookOf(requireFound(await get(userId, path.batch_id), 'batch'))),
);
