import { bucketObjects } from '../../data/aws/bucket-objects.ts';
import { reportJob } from '../../data/leases/report-job.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { requiredEnv } from '../../runtime/env.ts';
import { operation } from './report-job.operation.ts';

const callObject = bucketObjects(requiredEnv('RESULTS_BUCKET'));

export const handler = endpoint(routes.reportJob, operation, async ({ db, path, body: report }) =>
  success(await reportJob(db, callObject, { lease: path.lease, jobId: path.job_id, report })),
);
