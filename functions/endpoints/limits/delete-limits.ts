import { changeLimits } from '../../data/limits/limits-of-subjects.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './delete-limits.operation.ts';

export const handler = endpoint(routes.deleteLimits, operation, async ({ db, userId: operator, claims, path }) => {
  await changeLimits(db, { operator, operatorName: claims.user_name, subject: path.subject, limits: undefined });
  return success(null);
});
