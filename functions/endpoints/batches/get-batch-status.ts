import { documentClient } from '../../data/dynamodb/client.ts';
import { getQueuedBatch, secondsToNextLook } from '../../data/queue-counts.ts';
import { getWebhookAttempt } from '../../data/webhook-attempts.ts';
import { tableNames, webhookReach } from '../../env.ts';
import { requireFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { retryAfter, success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-batch-status.operation.ts';

const get = getQueuedBatch(documentClient(), tableNames('Batches', 'DeviceQueue'));
const attemptOf = getWebhookAttempt(documentClient(), tableNames('WebhookAttempts'), webhookReach());

export const handler = endpoint(routes.getBatchStatus, operation, async ({ userId, path }) => {
  const batch = requireFound(await get(userId, path.batch_id), 'batch');
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
    webhook_attempt: await attemptOf(batch),
  };
  return { ...success(progress), headers: retryAfter(secondsToNextLook(batch)) };
});
