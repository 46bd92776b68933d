import { listLimits } from '../../data/limits/limits-of-subjects.ts';
import { endpoint } from '../../http/endpoint.ts';
import { pageReply } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './list-limits.operation.ts';

export const handler = endpoint(routes.listLimits, operation, async ({ db, query }) =>
  pageReply(query, await listLimits(db, query)),
);
