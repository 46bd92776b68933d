import { documentClient } from '../../data/dynamodb/client.ts';
import { ownLimits } from '../../data/limits/used-of-limits.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './get-own-limits.operation.ts';

const limits = ownLimits(documentClient(), tableNames('Limits', 'Columns', 'Usage', 'Counters'));

export const handler = endpoint(routes.getOwnLimits, operation, async ({ userId }) => success(await limits(userId)));
