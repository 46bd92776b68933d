import { readResults } from '../../data/batches/batch-results.ts';
import { findObject } from '../../data/batches/results.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { reportJob } from '../../data/leases/leases.ts';
import { countShots } from '../../data/leases/shots.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { requiredEnv, tableNames } from '../../runtime/env.ts';
import { operation } from './report-job.operation.ts';

const bucket = requiredEnv('RESULTS_BUCKET');
const report = reportJob(
  documentClient(),
  tableNames('Batches', 'Jobs', 'Columns', 'DeviceQueue', 'Sequences', 'Usage', 'Counters'),
  {
    hasResults: findObject(bucket),
    shotsOf: countShots(readResults(bucket)),
  },
);

export const handler = endpoint(routes.reportJob, operation, async ({ path, body }) =>
  success(await report(path.lease, path.job_id, body)),
);
