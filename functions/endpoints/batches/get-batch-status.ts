import { getQueuedBatch, secondsToNextLook } from '../../data/batches/queue-counts.ts';
import { getWebhookAttempt } from '../../data/webhooks/webhook-attempts.ts';
import { requireFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { retryAfter, success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { webhookReach } from '../../runtime/env.ts';
import { operation } from './get-batch-status.operation.ts';

const reach = webhookReach();

export const handler = endpoint(routes.getBatchStatus, operation, async ({ db, userId, path }) => {
  const batch = requireFound(await getQueuedBatch(db, userId, path.batch_id), 'batch');
  const { id, status, jobs_count, jobs_count_per_status } = batch;
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
