import { messageSender } from '../../data/aws/message-sender.ts';
import { cancelBatches } from '../../data/batches/cancellations.ts';
import { recoveryBy } from '../../data/batches/recovery.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { queueUrl, tableNames } from '../../runtime/env.ts';
import { operation } from './cancel-batches.operation.ts';

const cancel = cancelBatches(
  documentClient(),
  tableNames('Batches', 'Jobs', 'Columns', 'DeviceQueue', 'Usage', 'Counters'),
  recoveryBy(messageSender(queueUrl('Recovery'))),
);

/** Enough for a transaction that has to wait for others, with what comes before and after it. */
const reservedSeconds = 6;
const milliseconds = (routes.cancelBatches.timeoutSeconds - reservedSeconds) * 1_000;

export const handler = endpoint(routes.cancelBatches, operation, async ({ userId, body }) => {
  const end = Date.now() + milliseconds;
  return success(await cancel(userId, body.batch_ids, () => Date.now() < end));
});
