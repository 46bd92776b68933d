import { getBatchDetails } from '../../data/batches/batch-details.ts';
import { requireFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-batch.operation.ts';

export const handler = endpoint(routes.getBatch, operation, async ({ db, userId, path }) => {
  const batch = requireFound(await getBatchDetails(db, userId, path.batch_id), 'batch');
  const { jobs, ...withoutJobs } = batch;
  return firstThatFits(batch, withoutJobs);
});
