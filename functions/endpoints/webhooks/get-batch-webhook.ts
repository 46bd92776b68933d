import { asOwner } from '../../data/projects/access.ts';
import { getBatchRow } from '../../data/rows/batches.ts';
import { getBatchWebhook } from '../../data/webhooks/webhook-attempts.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { webhookReach } from '../../runtime/env.ts';
import { operation } from './get-batch-webhook.operation.ts';

const reach = webhookReach();

export const handler = endpoint(
  routes.getBatchWebhook,
  operation,
  async ({ db, path: { batch_id: id }, ...caller }) => {
    const batch = await asOwner(db, caller, { right: 'read', table: 'Batches', id }, (owner) =>
      getBatchRow(db, owner, id),
    );
    return success(await getBatchWebhook(db, batch, reach));
  },
);
