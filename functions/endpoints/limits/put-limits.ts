import { documentClient } from '../../data/dynamodb/client.ts';
import { changeLimits } from '../../data/limits/limits.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { tableNames } from '../../runtime/env.ts';
import { operation } from './put-limits.operation.ts';

const change = changeLimits(documentClient(), tableNames('Limits', 'Audit'));

export const handler = endpoint(routes.putLimits, operation, async ({ userId: operator, path, body: limits }) =>
  success(await change({ operator, subject: path.subject, limits })),
);
