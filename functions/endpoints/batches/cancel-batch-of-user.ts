import { messageSender } from '../../data/aws/message-sender.ts';
import { scheduleRecovery } from '../../data/batches/recovery.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { cancelBatchOfUser } from '../../data/operators/operator-acts.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { queueUrl, tableNames } from '../../runtime/env.ts';
import { operation } from './cancel-batch-of-user.operation.ts';

const tables = tableNames('Batches', 'Jobs', 'Columns', 'DeviceQueue', 'Audit', 'Usage', 'Counters');
const cancel = cancelBatchOfUser(documentClient(), tables, {
  beforeMultiTransaction: scheduleRecovery(messageSender(queueUrl('Recovery'))),
});

export const handler = endpoint(routes.cancelBatchOfUser, operation, async ({ userId: operator, path, body }) =>
  success(await cancel({ operator, userId: path.user_id, batchId: path.batch_id, reason: body.reason })),
);
