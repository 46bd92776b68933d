import { signUploadLink } from '../../data/batches/results.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { getUploadKey } from '../../data/leases/leases.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { requiredEnv, tableNames } from '../../runtime/env.ts';
import { operation } from './upload-results.operation.ts';

const getKey = getUploadKey(documentClient(), tableNames('Jobs', 'DeviceQueue'));
const signLink = signUploadLink(requiredEnv('RESULTS_BUCKET'));

export const handler = endpoint(routes.uploadResults, operation, async ({ path, body }) =>
  success(await signLink(await getKey(path.lease, path.job_id, body.sha256), body)),
);
