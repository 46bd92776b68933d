import { changeLimits } from '../../data/limits/limits-of-subjects.ts';
import { previewLimits } from '../../data/operators/preview-limits.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './put-limits.operation.ts';

export const handler = endpoint(
  routes.putLimits,
  operation,
  async ({ db, userId: operator, claims, path, query, body: limits }) => {
    const change = { operator, operatorName: claims.user_name, subject: path.subject, limits };
    return success(await (query.preview ? previewLimits(db, change) : changeLimits(db, change)));
  },
);
