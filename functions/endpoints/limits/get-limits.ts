import { documentClient } from '../../data/dynamodb/client.ts';
import { getLimits } from '../../data/limits/limits.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './get-limits.operation.ts';

const get = getLimits(documentClient(), tableNames('Limits'));

export const handler = endpoint(routes.getLimits, operation, async ({ path }) => success(await get(path.subject)));
