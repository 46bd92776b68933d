import { resultsBucket } from '../../data/aws/results-bucket.ts';
import { getResultsKey, requireValidity, signResultsLink } from '../../data/batches/results.ts';
import { asOwner } from '../../data/projects/access.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { requiredEnv } from '../../runtime/env.ts';
import { operation } from './get-results-link.operation.ts';

const { RESULTS_DAYS, RESULTS_LINK_SECONDS } = process.env;
const maxDays = RESULTS_DAYS ? Number(RESULTS_DAYS) : undefined;
const validitySeconds = requireValidity(Number(RESULTS_LINK_SECONDS ?? 300));
const bucket = resultsBucket(requiredEnv('RESULTS_BUCKET'));

export const handler = endpoint(routes.getResultsLink, operation, async ({ db, path: { job_id: id }, ...caller }) => {
  const results_link = await asOwner(db, caller, { right: 'read', table: 'Jobs', id }, async (userId) => {
    const key = await getResultsKey(db, { userId, jobId: id }, maxDays);
    return key && signResultsLink(bucket, { userId, key }, validitySeconds);
  });
  return success({ results_link });
});
