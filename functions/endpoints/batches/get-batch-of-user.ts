import { readBatchOfUser } from '../../data/operators/operator-acts.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-batch-of-user.operation.ts';

export const handler = endpoint(routes.getBatchOfUser, operation, async ({ db, userId: operator, claims, path }) => {
  const asked = { operator, operatorName: claims.user_name, userId: path.user_id, batchId: path.batch_id };
  const batch = await readBatchOfUser(db, asked);
  const { jobs, ...withoutJobs } = batch;
  return firstThatFits(batch, withoutJobs);
});
