import { cancelJob } from '../../data/batches/cancellations.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './cancel-job.operation.ts';

const cancel = cancelJob(
  documentClient(),
  tableNames('Batches', 'Jobs', 'Columns', 'DeviceQueue', 'Usage', 'Counters'),
);

export const handler = endpoint(routes.cancelJob, operation, async ({ userId, path }) =>
  success(await cancel(userId, path.job_id)),
);
