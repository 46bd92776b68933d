import { nextJob } from '../../data/leases/next-job.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './next-job.operation.ts';

export const handler = endpoint(routes.nextJob, operation, async ({ db, path }) =>
  success(await nextJob(db, path.lease)),
);
