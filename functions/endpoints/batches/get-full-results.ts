import { bucketObjects } from '../../data/aws/bucket-objects.ts';
import { listResultsKeys, readResults } from '../../data/batches/batch-results.ts';
import { withPlace } from '../../data/limits/calls-at-once.ts';
import { asOwner } from '../../data/projects/access.ts';
import { InvalidInput } from '../../errors.ts';
import { endpoint } from '../../http/endpoint.ts';
import { fitsOneAnswer, maxBodyBytes, type Reply } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { requiredEnv } from '../../runtime/env.ts';
import { addToRequestLog } from '../../runtime/request-log.ts';
import { operation } from './get-full-results.operation.ts';

const callObject = bucketObjects(requiredEnv('RESULTS_BUCKET'));

/** Jobs that the log names, of those whose results cannot be read. */
const maxJobsNamed = 20;

/** Results that are soon read: a call of more is one of the user's long ones. */
const maxUncounted = 100;

export const handler = endpoint(
  routes.getFullResults,
  operation,
  async ({ db, path: { batch_id: id }, query, ...caller }) => {
    const found = await asOwner(db, caller, { right: 'read', table: 'Batches', id }, async (userId) => {
      const keys = await listResultsKeys(db, { userId, batchId: id }, query.job_id);
      return keys && { userId, keys };
    });
    const read = await withPlace(db, { userId: caller.userId, kind: 'downloads' }, async (begin) => {
      if (found.keys.size > maxUncounted) await begin();
      return readResults(callObject, { ...found, maxBytes: maxBodyBytes });
    });
    const { documents, missing, unreadable } = read ?? refuseSize();
    if (missing.length > 0) addToRequestLog({ missing_results: missing.length });
    if (unreadable.length > 0) {
      addToRequestLog({ unreadable_results: unreadable.length, jobs: unreadable.slice(0, maxJobsNamed) });
    }
    const reply = objectOf(documents);
    return fitsOneAnswer(reply) ? reply : refuseSize();
  },
);

function objectOf(documents: ReadonlyMap<string, string>): Reply {
  return { data: `{${[...documents].map(([jobId, text]) => `"${jobId}":${text}`).join()}}` };
}

function refuseSize(): never {
  const msg =
    'These results exceed one answer: name fewer jobs by job_id, or get each job’s by /api/v1/jobs/{job_id}/results_link';
  throw new InvalidInput([{ loc: ['path', 'batch_id'], msg, type: 'results_too_large' }]);
}
