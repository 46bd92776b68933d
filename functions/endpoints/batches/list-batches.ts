import { documentClient } from '../../data/dynamodb/client.ts';
import { countBatches, listBatches } from '../../data/rows/batches.ts';
import { endpoint } from '../../http/endpoint.ts';
import { countsReply, pageReply } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './list-batches.operation.ts';

const tables = tableNames('Batches', 'Columns');
const list = listBatches(documentClient(), tables);
const count = countBatches(documentClient(), tables);

export const handler = endpoint(routes.listBatches, operation, async ({ userId, query }) =>
  query.count_by === undefined ? pageReply(query, await list(userId, query)) : countsReply(await count(userId, query)),
);
