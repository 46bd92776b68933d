import { releaseLease } from '../../data/leases/leases.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './release-lease.operation.ts';

export const handler = endpoint(routes.releaseLease, operation, async ({ db, path }) => {
  await releaseLease(db, path.lease);
  return success(null);
});
