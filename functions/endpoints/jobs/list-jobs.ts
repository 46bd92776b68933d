import { countJobs, listJobs } from '../../data/rows/jobs.ts';
import { endpoint } from '../../http/endpoint.ts';
import { countsReply, pageReply } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './list-jobs.operation.ts';

export const handler = endpoint(routes.listJobs, operation, async ({ db, query, ...caller }) =>
  query.count_by === undefined
    ? pageReply(query, await listJobs(db, caller, query))
    : countsReply(await countJobs(db, caller, query)),
);
