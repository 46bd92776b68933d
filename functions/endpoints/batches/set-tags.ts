import { setTags } from '../../data/batches/batch-updates.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './set-tags.operation.ts';

export const handler = endpoint(routes.setTags, operation, async ({ db, userId, path, body }) =>
  success(await setTags(db, userId, path.batch_id, body)),
);
