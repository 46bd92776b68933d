import { listBatches } from '../../data/batches.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { pageReply } from '../../http/reply.ts';
import { BatchListQuery } from '../../schemas/batch-list-query.ts';

const list = listBatches(documentClient(), tableNames('Batches', 'Columns'));

/** The caller's batches. */
export const handler = endpoint({ query: BatchListQuery }, async ({ userId, query }) =>
  pageReply(query, await list(userId, query)),
);
