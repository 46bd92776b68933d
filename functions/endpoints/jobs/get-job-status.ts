import { getJobProgress } from '../../data/batches/job-progress.ts';
import { asOwner } from '../../data/projects/access.ts';
import { endpoint } from '../../http/endpoint.ts';
import { retryAfter, success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-job-status.operation.ts';

export const handler = endpoint(routes.getJobStatus, operation, async ({ db, path: { job_id: id }, ...caller }) => {
  const job = await asOwner(db, caller, { right: 'read', table: 'Jobs', id }, (owner) => getJobProgress(db, owner, id));
  const { status, next_look_seconds } = job;
  return { ...success({ id, status }), headers: retryAfter(next_look_seconds) };
});
