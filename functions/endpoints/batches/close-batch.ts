import { administratorsAct } from '../../data/batches/administrators-act.ts';
import { closeBatch } from '../../data/batches/batch-updates.ts';
import { asOwner } from '../../data/projects/access.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './close-batch.operation.ts';

export const handler = endpoint(routes.closeBatch, operation, async ({ db, path: { batch_id: id }, ...caller }) => {
  const closed = await asOwner(db, caller, { right: 'end', table: 'Batches', id }, (owner) =>
    closeBatch(db, owner, id, administratorsAct(db, caller, { owner, action: 'batch.close' })),
  );
  return success(closed);
});
