import { batchOf } from '../../data/batches.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { eraseResults } from '../../data/erase-results.ts';
import { eraseBatch } from '../../data/erasures.ts';
import { messageSender } from '../../data/message-sender.ts';
import { scheduleRecovery } from '../../data/recovery.ts';
import { queueUrl, requiredEnv, tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
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
