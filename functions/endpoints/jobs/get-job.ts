import { asOwner, rightsTo } from '../../data/projects/access.ts';
import { getJob } from '../../data/rows/jobs.ts';
import { getSequence } from '../../data/rows/sequences.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-job.operation.ts';

export const handler = endpoint(routes.getJob, operation, async ({ db, path: { job_id: id }, ...caller }) => {
  const shown = await asOwner(db, caller, { right: 'read', table: 'Jobs', id }, async (owner) => {
    const [job, sequence] = await Promise.all([getJob(db, owner, id), getSequence(db, owner, id)]);
    return job && { ...job, sequence };
  });
  return success({ ...shown, rights: rightsTo(caller, shown) });
});
