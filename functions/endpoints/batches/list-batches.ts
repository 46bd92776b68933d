import { countBatches, listBatches } from '../../data/rows/batches.ts';
import { endpoint } from '../../http/endpoint.ts';
import { countsReply, pageReply } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './list-batches.operation.ts';

export const handler = endpoint(routes.listBatches, operation, async ({ db, query, ...caller }) =>
  query.count_by === undefined
    ? pageReply(query, await listBatches(db, caller, query))
    : countsReply(await countBatches(db, caller, query)),
);
