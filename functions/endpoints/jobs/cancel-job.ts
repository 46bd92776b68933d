import { cancelJob } from '../../data/batches/cancellations.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './cancel-job.operation.ts';

export const handler = endpoint(routes.cancelJob, operation, async ({ db, userId, path }) =>
  success(await cancelJob(db, userId, path.job_id)),
);
