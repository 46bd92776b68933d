import { documentClient } from '../../data/dynamodb/client.ts';
import { listJobs } from '../../data/jobs.ts';
import { tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { pageReply } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './list-jobs.operation.ts';

const list = listJobs(documentClient(), tableNames('Batches', 'Jobs', 'Columns'));

export const handler = endpoint(routes.listJobs, operation, async ({ userId, query }) =>
  pageReply(query, await list(userId, query)),
);
