import { documentClient } from '../../data/dynamodb/client.ts';
import { messageSender } from '../../data/message-sender.ts';
import { addJobs } from '../../data/new-batches.ts';
import { recoveryBy } from '../../data/recovery.ts';
import { queueUrl, tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { Claims } from '../../schemas/claims.ts';
import { operation } from './add-jobs.operation.ts';

const add = addJobs(
  documentClient(),
  tableNames('Batches', 'Jobs', 'Columns', 'Sequences', 'DeviceQueue', 'Devices', 'Limits', 'Usage'),
  recoveryBy(messageSender(queueUrl('Recovery'))),
);

export const handler = endpoint(routes.addJobs, operation, async ({ userId, path, headers, body, event }) => {
  const call = { userId, idempotencyKey: headers['idempotency-key'] };
  const batch = await add(call, path.batch_id, body, Claims.parse(event.requestContext.authorizer));
  const { jobs, ...withoutJobs } = batch;
  return firstThatFits(batch, withoutJobs);
});
