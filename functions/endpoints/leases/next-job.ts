import { documentClient } from '../../data/dynamodb/client.ts';
import { nextJob } from '../../data/leases/leases.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './next-job.operation.ts';

const next = nextJob(
  documentClient(),
  tableNames('Batches', 'Jobs', 'Columns', 'DeviceQueue', 'Sequences', 'Usage', 'Counters'),
);

export const handler = endpoint(routes.nextJob, operation, async ({ path }) => success(await next(path.lease)));
