import { closeBatch } from '../../data/batches/batch-updates.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './close-batch.operation.ts';

const close = closeBatch(documentClient(), tableNames('Batches', 'Columns', 'DeviceQueue', 'Usage', 'Counters'));

export const handler = endpoint(routes.closeBatch, operation, async ({ userId, path }) =>
  success(await close(userId, path.batch_id)),
);
