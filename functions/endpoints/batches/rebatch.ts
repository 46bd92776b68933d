import { messageSender } from '../../data/aws/message-sender.ts';
import { rebatch } from '../../data/batches/rebatches.ts';
import { recoveryBy } from '../../data/batches/recovery.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { queueUrl, tableNames } from '../../runtime/env.ts';
import { Claims } from '../../schemas/claims.ts';
import { operation } from './rebatch.operation.ts';

const repeat = rebatch(
  documentClient(),
  tableNames('Batches', 'Jobs', 'Columns', 'Sequences', 'DeviceQueue', 'Limits', 'Usage', 'Counters'),
  recoveryBy(messageSender(queueUrl('Recovery'))),
);

export const handler = endpoint(routes.rebatch, operation, async ({ userId, path, query, headers, event }) => {
  const call = { userId, idempotencyKey: headers['idempotency-key'] };
  const batch = await repeat(call, path.batch_id, query, Claims.parse(event.requestContext.authorizer));
  const { jobs, ...withoutJobs } = batch;
  return firstThatFits(batch, withoutJobs);
});
