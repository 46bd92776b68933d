import { documentClient } from '../../data/dynamodb/client.ts';
import { getJob } from '../../data/jobs.ts';
import { tableNames } from '../../env.ts';
import { requireFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-job-status.operation.ts';

const get = getJob(documentClient(), tableNames('Jobs'));

export const handler = endpoint(routes.getJobStatus, operation, async ({ userId, path }) => {
  const job = requireFound(await get(userId, path.job_id), 'job');
  return success({ id: job.id, status: job.status });
});
