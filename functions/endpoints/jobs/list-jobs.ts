import { documentClient } from '../../data/dynamodb/client.ts';
import { countJobs, listJobs } from '../../data/rows/jobs.ts';
import { endpoint } from '../../http/endpoint.ts';
import { countsReply, pageReply } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './list-jobs.operation.ts';

const tables = tableNames('Batches', 'Jobs', 'Columns');
const list = listJobs(documentClient(), tables);
const count = countJobs(documentClient(), tables);

export const handler = endpoint(routes.listJobs, operation, async ({ userId, query }) =>
  query.count_by === undefined ? pageReply(query, await list(userId, query)) : countsReply(await count(userId, query)),
);
