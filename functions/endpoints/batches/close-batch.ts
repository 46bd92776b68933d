import { closeBatch } from '../../data/batches/batch-updates.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './close-batch.operation.ts';

export const handler = endpoint(routes.closeBatch, operation, async ({ db, userId, path }) =>
  success(await closeBatch(db, userId, path.batch_id)),
);
