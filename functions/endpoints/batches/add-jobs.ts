import { documentClient } from '../../data/dynamodb/client.ts';
import { messageSender } from '../../data/message-sender.ts';
import { addJobs } from '../../data/new-batches.ts';
import { scheduleRecovery } from '../../data/recovery.ts';
import { queueUrl, tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './add-jobs.operation.ts';

const add = addJobs(documentClient(), tableNames('Batches', 'Jobs', 'Columns', 'Sequences', 'DeviceQueue'), {
  beforeMultiTransaction: scheduleRecovery(messageSender(queueUrl('Recovery'))),
});

export const handler = endpoint(routes.addJobs, operation, async ({ userId, path, headers, body }) => {
  const batch = await add({ userId, idempotencyKey: headers['idempotency-key'] }, path.batch_id, body);
  const { jobs, ...withoutJobs } = batch;
  return firstThatFits(batch, withoutJobs);
});
