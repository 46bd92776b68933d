import { getQueuedBatch, secondsToNextLook } from '../../data/batches/queue-counts.ts';
import { asOwner } from '../../data/projects/access.ts';
import { getWebhookAttempt } from '../../data/webhooks/webhook-attempts.ts';
import { endpoint } from '../../http/endpoint.ts';
import { retryAfter, success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { webhookReach } from '../../runtime/env.ts';
import { operation } from './get-batch-status.operation.ts';

const reach = webhookReach();

export const handler = endpoint(routes.getBatchStatus, operation, async ({ db, path: { batch_id: id }, ...caller }) => {
  const batch = await asOwner(db, caller, { right: 'read', table: 'Batches', id }, (owner) =>
    getQueuedBatch(db, owner, id),
  );
  const { status, jobs_count, jobs_count_per_status } = batch;
  const { queue_position, queue_reason, estimated_start, estimated_start_reason } = batch;
  const progress = {
    id,
    status,
    jobs_count,
    jobs_count_per_status,
    queue_position,
    queue_reason,
    estimated_start,
    estimated_start_reason,
    webhook_attempt: await getWebhookAttempt(db, batch, reach),
  };
  return { ...success(progress), headers: retryAfter(secondsToNextLook(batch)) };
});
