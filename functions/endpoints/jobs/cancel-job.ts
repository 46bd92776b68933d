import { administratorsAct } from '../../data/batches/administrators-act.ts';
import { cancelJob } from '../../data/batches/cancellations.ts';
import { asOwner } from '../../data/projects/access.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './cancel-job.operation.ts';

export const handler = endpoint(routes.cancelJob, operation, async ({ db, path: { job_id: id }, ...caller }) => {
  const canceled = await asOwner(db, caller, { right: 'end', table: 'Jobs', id }, (owner) =>
    cancelJob(db, owner, id, administratorsAct(db, caller, { owner, action: 'job.cancel' })),
  );
  return success(canceled);
});
