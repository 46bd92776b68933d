import { secretsManager } from '../../data/aws/secrets-manager.ts';
import { withPlace } from '../../data/limits/calls-at-once.ts';
import { asOwner } from '../../data/projects/access.ts';
import { getBatchRow } from '../../data/rows/batches.ts';
import { testWebhook } from '../../data/webhooks/call-webhook.ts';
import type { WebhookSecret } from '../../data/webhooks/webhook-keys.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { requiredEnv, webhookReach } from '../../runtime/env.ts';
import { millisecondsLeft } from '../../runtime/request-lifetime.ts';
import { timeLimits } from '../../time-limits.ts';
import { operation } from './test-webhook.operation.ts';

const secret: WebhookSecret = { id: requiredEnv('WEBHOOK_KEY_ARN'), call: secretsManager() };
const reach = webhookReach();

export const handler = endpoint(routes.testWebhook, operation, async ({ db, path: { batch_id: id }, ...caller }) => {
  const row = { right: 'change', table: 'Batches', id } as const;
  const batch = await asOwner(db, caller, row, (owner) => getBatchRow(db, owner, id));
  const timeoutMilliseconds = millisecondsLeft() - 1_000 * timeLimits.toStoreDelivery;
  const delivery = await withPlace(db, { userId: caller.userId, kind: 'tests' }, async (begin) => {
    await begin();
    return testWebhook(db, batch, { secret, reach, timeoutMilliseconds });
  });
  return success(delivery);
});
