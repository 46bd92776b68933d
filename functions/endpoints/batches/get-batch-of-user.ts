import { readBatchOfUser } from '../../data/operators/operator-acts.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-batch-of-user.operation.ts';

export const handler = endpoint(routes.getBatchOfUser, operation, async ({ db, userId: operator, path }) => {
  const batch = await readBatchOfUser(db, { operator, userId: path.user_id, batchId: path.batch_id });
  const { jobs, ...withoutJobs } = batch;
  return firstThatFits(batch, withoutJobs);
});
