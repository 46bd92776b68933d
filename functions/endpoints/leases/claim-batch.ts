import { claimBatch } from '../../data/leases/claim-batch.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits, success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { addToRequestLog } from '../../runtime/request-log.ts';
import { withoutBatchSequence } from '../../schemas/lease.ts';
import { operation } from './claim-batch.operation.ts';

export const handler = endpoint(routes.claimBatch, operation, async ({ db, path, body }) => {
  addToRequestLog({ worker: body.worker });
  const claimed = await claimBatch(db, path.device_type, body.worker);
  if ('retry_after' in claimed) return { ...success(null), headers: { 'Retry-After': String(claimed.retry_after) } };
  return claimed.job.sequence === null ? success(claimed) : firstThatFits(claimed, withoutBatchSequence(claimed));
});
