import { listAudit } from '../../data/rows/acts.ts';
import { endpoint } from '../../http/endpoint.ts';
import { pageReply } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './list-audit.operation.ts';

export const handler = endpoint(routes.listAudit, operation, async ({ db, query }) =>
  pageReply(query, await listAudit(db, query)),
);
