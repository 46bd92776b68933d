import { changeLimits } from '../../data/limits/limits-of-subjects.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './put-limits.operation.ts';

export const handler = endpoint(
  routes.putLimits,
  operation,
  async ({ db, userId: operator, claims, path, body: limits }) =>
    success(await changeLimits(db, { operator, operatorName: claims.user_name, subject: path.subject, limits })),
);
