import { closeBatch } from '../../data/batch-updates.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './close-batch.operation.ts';

const close = closeBatch(documentClient(), tableNames('Batches', 'Columns', 'DeviceQueue', 'Usage', 'Counters'));

export const handler = endpoint(routes.closeBatch, operation, async ({ userId, path }) =>
  success(await close(userId, path.batch_id)),
);
