import { getBatchDetails } from '../../data/batches/batch-details.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { requireFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './get-batch.operation.ts';

const get = getBatchDetails(documentClient(), tableNames('Batches', 'Jobs', 'Columns', 'Sequences'));

export const handler = endpoint(routes.getBatch, operation, async ({ userId, path }) => {
  const batch = requireFound(await get(userId, path.batch_id), 'batch');
  const { jobs, ...withoutJobs } = batch;
  return firstThatFits(batch, withoutJobs);
});
