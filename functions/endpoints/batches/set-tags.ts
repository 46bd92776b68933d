import { setTags } from '../../data/batch-updates.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './set-tags.operation.ts';

const set = setTags(documentClient(), tableNames('Batches', 'Columns', 'Usage'));

export const handler = endpoint(routes.setTags, operation, async ({ userId, path, body }) =>
  success(await set(userId, path.batch_id, body)),
);
