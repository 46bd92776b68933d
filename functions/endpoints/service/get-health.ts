import { publicEndpoint } from '../../http/endpoint.ts';
import { success } from '../../http/reply.ts';

/** Whether requests reach the service. */
export const handler = publicEndpoint(() => success({ healthy: true }));
