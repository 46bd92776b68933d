import { setTags } from '../../data/batches/batch-updates.ts';
import { asOwner } from '../../data/projects/access.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './set-tags.operation.ts';

export const handler = endpoint(routes.setTags, operation, async ({ db, path: { batch_id: id }, body, ...caller }) => {
  const tagged = await asOwner(db, caller, { right: 'change', table: 'Batches', id }, (owner) =>
    setTags(db, owner, id, body),
  );
  return success(tagged);
});
