import { extendLease } from '../../data/leases/leases.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { addToRequestLog } from '../../runtime/request-log.ts';
import { operation } from './extend-lease.operation.ts';

export const handler = endpoint(routes.extendLease, operation, async ({ db, path, body }) => {
  const heartbeat = await extendLease(db, path.lease, body.job_id);
  // Workers send them all the time: only what stops a job is worth a line.
  if (!heartbeat.cancel) addToRequestLog({ level: 'DEBUG' });
  return success(heartbeat);
});
