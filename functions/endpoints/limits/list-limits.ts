import { documentClient } from '../../data/dynamodb/client.ts';
import { listLimits } from '../../data/limits/limits.ts';
import { endpoint } from '../../http/endpoint.ts';
import { pageReply } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './list-limits.operation.ts';

const list = listLimits(documentClient(), tableNames('Limits'));

export const handler = endpoint(routes.listLimits, operation, async ({ query }) => pageReply(query, await list(query)));
