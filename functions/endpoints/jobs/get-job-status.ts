import { getJobProgress } from '../../data/batches/job-progress.ts';
import { requireFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { retryAfter, success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-job-status.operation.ts';

export const handler = endpoint(routes.getJobStatus, operation, async ({ db, userId, path }) => {
  const job = requireFound(await getJobProgress(db, userId, path.job_id), 'job');
  const { id, status, next_look_seconds } = job;
  return { ...success({ id, status }), headers: retryAfter(next_look_seconds) };
});
