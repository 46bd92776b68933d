import { documentClient } from '../../data/dynamodb/client.ts';
import { getJob } from '../../data/rows/jobs.ts';
import { getSequence } from '../../data/rows/sequences.ts';
import { requireFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './get-job.operation.ts';

const client = documentClient();
const get = getJob(client, tableNames('Jobs'));
const sequenceOf = getSequence(client, tableNames('Sequences'));

export const handler = endpoint(routes.getJob, operation, async ({ userId, path }) => {
  const [job, sequence] = await Promise.all([get(userId, path.job_id), sequenceOf(userId, path.job_id)]);
  return success({ ...requireFound(job, 'job'), sequence });
});
