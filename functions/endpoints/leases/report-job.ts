import { documentClient } from '../../data/dynamodb/client.ts';
import { reportJob } from '../../data/leases.ts';
import { findObject } from '../../data/results.ts';
import { requiredEnv, tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './report-job.operation.ts';

const report = reportJob(documentClient(), tableNames('Batches', 'Jobs', 'Columns', 'DeviceQueue', 'Sequences'), {
  hasResults: findObject(requiredEnv('RESULTS_BUCKET')),
});

export const handler = endpoint(routes.reportJob, operation, async ({ path, body }) =>
  success(await report(path.lease, path.job_id, body)),
);
