import { resultsBucket } from '../../data/aws/results-bucket.ts';
import { signUploadLink } from '../../data/batches/results.ts';
import { getUploadKey } from '../../data/leases/report-job.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { requiredEnv } from '../../runtime/env.ts';
import { addToRequestLog } from '../../runtime/request-log.ts';
import { operation } from './upload-results.operation.ts';

const bucket = resultsBucket(requiredEnv('RESULTS_BUCKET'));

export const handler = endpoint(routes.uploadResults, operation, async ({ db, path, body }) => {
  const link = await signUploadLink(bucket, await getUploadKey(db, path.lease, path.job_id, body.sha256), body);
  addToRequestLog({ level: 'DEBUG' });
  return success(link);
});
