import { listBatches } from '../../data/batches.ts';
import { documentClient } from '../../data/dynamodb/client.ts';
import { tableNames } from '../../env.ts';
import { endpoint } from '../../http/endpoint.ts';
import { pageReply } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './list-batches.operation.ts';

const list = listBatches(documentClient(), tableNames('Batches', 'Columns'));

export const handler = endpoint(routes.listBatches, operation, async ({ userId, query }) =>
  pageReply(query, await list(userId, query)),
);
