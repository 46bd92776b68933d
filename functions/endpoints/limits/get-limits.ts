import { getLimits } from '../../data/limits/limits-of-subjects.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-limits.operation.ts';

export const handler = endpoint(routes.getLimits, operation, async ({ db, path }) =>
  success(await getLimits(db, path.subject)),
);
