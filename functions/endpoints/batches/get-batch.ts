import { getBatchDetails } from '../../data/batches/batch-details.ts';
import { asOwner, rightsTo } from '../../data/projects/access.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-batch.operation.ts';

export const handler = endpoint(routes.getBatch, operation, async ({ db, path: { batch_id: id }, ...caller }) => {
  const found = await asOwner(db, caller, { right: 'read', table: 'Batches', id }, (owner) =>
    getBatchDetails(db, owner, id),
  );
  const batch = { ...found, rights: rightsTo(caller, found) };
  const { jobs, ...withoutJobs } = batch;
  return firstThatFits(batch, withoutJobs);
});
