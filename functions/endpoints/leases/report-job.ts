import { readResults } from '../../data/batch-results.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { reportJob } from '../../data/leases.ts';
import { findObject } from '../../data/results.ts';
import { countShots } from '../../data/shots.ts';
import { requiredEnv, tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
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
