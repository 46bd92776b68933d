import { getJob } from '../../data/rows/jobs.ts';
import { getSequence } from '../../data/rows/sequences.ts';
import { requireFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-job.operation.ts';

export const handler = endpoint(routes.getJob, operation, async ({ db, userId, path: { job_id } }) => {
  const [job, sequence] = await Promise.all([getJob(db, userId, job_id), getSequence(db, userId, job_id)]);
  return success({ ...requireFound(job, 'job'), sequence });
});
