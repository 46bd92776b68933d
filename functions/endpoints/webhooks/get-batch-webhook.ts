import { getBatch } from '../../data/rows/batches.ts';
import { getBatchWebhook } from '../../data/webhooks/webhook-attempts.ts';
import { requireFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { webhookReach } from '../../runtime/env.ts';
import { operation } from './get-batch-webhook.operation.ts';

const reach = webhookReach();

export const handler = endpoint(routes.getBatchWebhook, operation, async ({ db, userId, path }) =>
  success(await getBatchWebhook(db, requireFound(await getBatch(db, userId, path.batch_id), 'batch'), reach)),
);
