import { batchOf } from '../../data/batches.ts';
import { cancelBatch } from '../../data/cancellations.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { messageSender } from '../../data/message-sender.ts';
import { scheduleRecovery } from '../../data/recovery.ts';
import { queueUrl, tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
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
