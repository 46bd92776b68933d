import { getJobProgress } from '../../data/batches/job-progress.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { requireFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { retryAfter, success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './get-job-status.operation.ts';

const get = getJobProgress(documentClient(), tableNames('Batches', 'Jobs', 'DeviceQueue'));

export const handler = endpoint(routes.getJobStatus, operation, async ({ userId, path }) => {
  const job = requireFound(await get(userId, path.job_id), 'job');
  const { id, status, next_look_seconds } = job;
  return { ...success({ id, status }), headers: retryAfter(next_look_seconds) };
});
