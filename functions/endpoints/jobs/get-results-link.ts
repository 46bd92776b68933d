import { resultsBucket } from '../../data/aws/results-bucket.ts';
import { getResultsKey, requireValidity, signResultsLink } from '../../data/batches/results.ts';
import { requireFound } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { requiredEnv } from '../../runtime/env.ts';
import { operation } from './get-results-link.operation.ts';

const { RESULTS_DAYS, RESULTS_LINK_SECONDS } = process.env;
const maxDays = RESULTS_DAYS ? Number(RESULTS_DAYS) : undefined;
const validitySeconds = requireValidity(Number(RESULTS_LINK_SECONDS ?? 300));
const bucket = resultsBucket(requiredEnv('RESULTS_BUCKET'));

export const handler = endpoint(routes.getResultsLink, operation, async ({ db, userId, path }) => {
  const key = requireFound(await getResultsKey(db, { userId, jobId: path.job_id }, maxDays), 'job');
  return success({ results_link: key && (await signResultsLink(bucket, { userId, key }, validitySeconds)) });
});
