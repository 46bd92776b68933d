import { documentClient } from '../../data/dynamodb/client.ts';
import { getUploadKey } from '../../data/leases.ts';
import { signUploadLink } from '../../data/results.ts';
import { requiredEnv, tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './upload-results.operation.ts';

const getKey = getUploadKey(documentClient(), tableNames('Jobs', 'DeviceQueue'));
const signLink = signUploadLink(requiredEnv('RESULTS_BUCKET'));

export const handler = endpoint(routes.uploadResults, operation, async ({ path, body }) =>
  success(await signLink(await getKey(path.lease, path.job_id, body.sha256), body)),
);
