import { getJobProgress } from '../../data/batches/job-progress.ts';
import { waitForChange } from '../../data/batches/wait-for-change.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { requireFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { retryAfter, success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { maxWaits, tableNames } from '../../runtime/env.ts';
import { operation } from './get-job-status.operation.ts';

const get = getJobProgress(documentClient(), tableNames('Batches', 'Jobs', 'DeviceQueue'));
const wait = waitForChange(documentClient(), tableNames('WebhookAttempts'), { maxWaits: maxWaits() });

export const handler = endpoint(routes.getJobStatus, operation, async ({ userId, path, query }) => {
  const job = requireFound(await get(userId, path.job_id, wait(userId, query.wait)), 'job');
  const { id, status, next_look_seconds } = job;
  return { ...success({ id, status }), headers: retryAfter(next_look_seconds) };
});
