import { cancelBatches } from '../../data/cancellations.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { messageSender } from '../../data/message-sender.ts';
import { announceUnfinished } from '../../data/unfinished-batches.ts';
import { queueUrl, tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './cancel-batches.operation.ts';

const cancel = cancelBatches(documentClient(), tableNames('Batches', 'Jobs', 'Columns', 'Queue'), {
  beforeSeveral: announceUnfinished(messageSender(queueUrl('Unfinished'))),
});

export const handler = endpoint(routes.cancelBatches, operation, async ({ userId, body }) =>
  success(await cancel(userId, body.batch_ids)),
);
