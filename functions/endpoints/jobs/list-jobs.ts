import { documentClient } from '../../data/dynamodb/client.ts';
import { listJobs } from '../../data/jobs.ts';
import { tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { pageReply } from '../../http/reply.ts';
import { JobListQuery } from '../../schemas/job-list-query.ts';

const list = listJobs(documentClient(), tableNames('Batches', 'Jobs', 'Columns'));

/** The caller's jobs, without their results. */
export const handler = endpoint({ query: JobListQuery }, async ({ userId, query }) =>
  pageReply(query, await list(userId, query)),
);
