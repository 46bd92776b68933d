import { documentClient } from '../../data/dynamodb/client.ts';
import { releaseLease } from '../../data/leases/leases.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './release-lease.operation.ts';

const release = releaseLease(
  documentClient(),
  tableNames('Batches', 'Jobs', 'Columns', 'DeviceQueue', 'Usage', 'Counters'),
);

export const handler = endpoint(routes.releaseLease, operation, async ({ path }) => {
  await release(path.lease);
  return success(null);
});
