import { messageSender } from '../../data/aws/message-sender.ts';
import { cancelJobs } from '../../data/batches/cancellations.ts';
import { scheduleRecovery } from '../../data/batches/recovery.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { InvalidInput } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { fitsLambdaResponse, success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { queueUrl, tableNames } from '../../runtime/env.ts';
import type { Job } from '../../schemas/job.ts';
import { operation } from './cancel-jobs.operation.ts';

const cancel = cancelJobs(
  documentClient(),
  tableNames('Batches', 'Jobs', 'Columns', 'DeviceQueue', 'Usage', 'Counters'),
  {
    requireRoom,
    beforeMultiTransaction: scheduleRecovery(messageSender(queueUrl('Recovery'))),
  },
);

/** For what a job gains when it is canceled, and for the reasons of those that are not. */
const bytesMorePerJob = 200;

/** What is canceled must be answered: so jobs that one answer cannot hold are refused first. */
function requireRoom(jobs: readonly Job[]): void {
  if (fitsLambdaResponse(JSON.stringify(jobs) + ' '.repeat(bytesMorePerJob * jobs.length))) return;
  const msg = 'The jobs are more than one answer holds: choose fewer';
  throw new InvalidInput([{ loc: ['query', 'id'], msg, type: 'page_too_large' }]);
}

export const handler = endpoint(routes.cancelJobs, operation, async ({ userId, path, query }) =>
  success(await cancel(userId, path.batch_id, query)),
);
