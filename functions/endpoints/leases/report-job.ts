import { documentClient } from '../../data/dynamodb/client.ts';
import { reportJob } from '../../data/leases.ts';
import { findObject } from '../../data/results.ts';
import { requiredEnv, tableNames } from '../../env.ts';
import { InvalidInput } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { leasedResultsKey } from '../../results-key.ts';
import { routes } from '../../routes.ts';
import { operation } from './report-job.operation.ts';

const report = reportJob(documentClient(), tableNames('Batches', 'Jobs', 'Columns', 'Queue', 'Sequences'));
const exists = findObject(requiredEnv('RESULTS_BUCKET'));

export const handler = endpoint(routes.reportJob, operation, async ({ path, body }) => {
  const { lease, job_id } = path;
  if (body.results && !(await exists(leasedResultsKey(lease.userId, job_id, lease.fence)))) {
    const msg = 'Input should be true only after the results were uploaded under this lease';
    throw new InvalidInput([{ loc: ['body', 'results'], msg, type: 'value_error' }]);
  }
  return success(await report(lease, job_id, body));
});
