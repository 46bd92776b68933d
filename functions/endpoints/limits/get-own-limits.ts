import { ownLimits } from '../../data/limits/used-of-limits.ts';
import { endpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-own-limits.operation.ts';

export const handler = endpoint(routes.getOwnLimits, operation, async ({ db, userId }) =>
  success(await ownLimits(db, userId)),
);
