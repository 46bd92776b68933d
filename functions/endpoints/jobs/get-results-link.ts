import { getResultsKey, signResultsLink } from '../../data/batches/results.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { requireFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { requiredEnv, tableNames } from '../../runtime/env.ts';
import { operation } from './get-results-link.operation.ts';

const { RESULTS_DAYS } = process.env;
const getKey = getResultsKey(documentClient(), tableNames('Jobs'), {
  maxDays: RESULTS_DAYS ? Number(RESULTS_DAYS) : undefined,
});
const signLink = signResultsLink(requiredEnv('RESULTS_BUCKET'), Number(process.env.RESULTS_LINK_SECONDS ?? 300));

export const handler = endpoint(routes.getResultsLink, operation, async ({ userId, path }) => {
  const key = requireFound(await getKey(userId, path.job_id), 'job');
  return success({ results_link: key && (await signLink(userId, key)) });
});
