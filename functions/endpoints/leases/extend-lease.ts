import { extendLease } from '../../data/leases/leases.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './extend-lease.operation.ts';

export const handler = endpoint(routes.extendLease, operation, async ({ db, path, body }) =>
  success(await extendLease(db, path.lease, body.job_id)),
);
