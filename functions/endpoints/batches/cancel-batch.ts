import { messageSender } from '../../data/aws/message-sender.ts';
import { cancelBatch } from '../../data/batches/cancellations.ts';
import { scheduleRecovery } from '../../data/batches/recovery.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { batchOf } from '../../data/rows/batches.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { queueUrl, tableNames } from '../../runtime/env.ts';
import { operation } from './cancel-batch.operation.ts';

const cancel = cancelBatch(
  documentClient(),
  tableNames('Batches', 'Jobs', 'Columns', 'DeviceQueue', 'Usage', 'Counters'),
  {
    beforeMultiTransaction: scheduleRecovery(messageSender(queueUrl('Recovery'))),
  },
);

export const handler = endpoint(routes.cancelBatch, operation, async ({ userId, path }) =>
  success(batchOf(await cancel(userId, path.batch_id))),
);
