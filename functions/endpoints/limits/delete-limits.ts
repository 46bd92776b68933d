import { changeLimits } from '../../data/limits/limits-of-subjects.ts';
import { previewLimits } from '../../data/operators/preview-limits.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './delete-limits.operation.ts';

export const handler = endpoint(
  routes.deleteLimits,
  operation,
  async ({ db, userId: operator, claims, path, query }) => {
    const change = { operator, operatorName: claims.user_name, subject: path.subject, limits: undefined };
    if (query.preview) return success(await previewLimits(db, change));
    await changeLimits(db, change);
    return success(null);
  },
);
