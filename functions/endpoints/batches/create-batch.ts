import { documentClient } from '../../data/dynamodb/client.ts';
import { messageSender } from '../../data/message-sender.ts';
import { createBatch } from '../../data/new-batches.ts';
import { recoveryBy } from '../../data/recovery.ts';
import { queueUrl, tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { Claims } from '../../schemas/claims.ts';
import { operation } from './create-batch.operation.ts';

const create = createBatch(
  documentClient(),
  tableNames('Batches', 'Jobs', 'Columns', 'Sequences', 'DeviceQueue', 'Devices', 'Limits', 'Usage'),
  recoveryBy(messageSender(queueUrl('Recovery'))),
);

export const handler = endpoint(routes.createBatch, operation, async ({ userId, headers, body, event }) => {
  const call = { userId, idempotencyKey: headers['idempotency-key'] };
  const batch = await create(call, body, Claims.parse(event.requestContext.authorizer));
  const { jobs, ...withoutJobs } = batch;
  return firstThatFits(batch, withoutJobs);
});
