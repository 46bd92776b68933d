import { messageSender } from '../../data/aws/message-sender.ts';
import { eraseResults } from '../../data/batches/erase-results.ts';
import { eraseBatch } from '../../data/batches/erasures.ts';
import { scheduleRecovery } from '../../data/batches/recovery.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { batchOf } from '../../data/rows/batches.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { queueUrl, requiredEnv, tableNames } from '../../runtime/env.ts';
import { operation } from './erase-batch.operation.ts';

const erase = eraseBatch(
  documentClient(),
  tableNames('Batches', 'Jobs', 'Columns', 'Sequences', 'WebhookAttempts', 'Usage'),
  {
    eraseResults: eraseResults(requiredEnv('RESULTS_BUCKET')),
    beforeMultiTransaction: scheduleRecovery(messageSender(queueUrl('Recovery'))),
  },
);

export const handler = endpoint(routes.eraseBatch, operation, async ({ userId, path }) =>
  success(batchOf(await erase(userId, path.batch_id))),
);
