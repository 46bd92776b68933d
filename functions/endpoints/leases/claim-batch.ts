import { claimBatch } from '../../data/claim-batch.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { firstThatFits, success } from '../../http/reply.ts';
import { addToRequestLog } from '../../request-log.ts';
import { routes } from '../../routes.ts';
import { withoutBatchSequence } from '../../schemas/lease.ts';
import { operation } from './claim-batch.operation.ts';

const claim = claimBatch(
  documentClient(),
  tableNames('Batches', 'Jobs', 'Columns', 'DeviceQueue', 'Devices', 'Sequences', 'Usage', 'Counters'),
);

export const handler = endpoint(routes.claimBatch, operation, async ({ path, body }) => {
  addToRequestLog({ worker: body.worker });
  const claimed = await claim(path.device_type, body.worker);
  if ('retry_after' in claimed) return { ...success(null), headers: { 'Retry-After': String(claimed.retry_after) } };
  return claimed.job.sequence === null ? success(claimed) : firstThatFits(claimed, withoutBatchSequence(claimed));
});
