import { plainEndpoint } from '../../http/plain-endpoint.ts';
import { success } from '../../http/reply.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-health.operation.ts';

export const handler = plainEndpoint(routes.getHealth, operation, () => success({ healthy: true }));
