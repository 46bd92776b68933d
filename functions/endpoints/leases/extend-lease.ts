import { documentClient } from '../../data/dynamodb/client.ts';
import { extendLease } from '../../data/leases/leases.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './extend-lease.operation.ts';

const extend = extendLease(documentClient(), tableNames('Jobs', 'DeviceQueue'));

export const handler = endpoint(routes.extendLease, operation, async ({ path, body }) =>
  success(await extend(path.lease, body.job_id)),
);
