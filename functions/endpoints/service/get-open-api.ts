import document from '../../../openapi.json' with { type: 'json' };
import { plainEndpoint } from '../../http/plain-endpoint.ts';
import { routes } from '../../routes.ts';
import { operation } from './get-open-api.operation.ts';

/**
 * Names the path under which the API was reached as its server: on AWS it begins with the stage.
 */
export const handler = plainEndpoint(routes.getOpenApi, operation, ({ event: { resource, requestContext } }) => {
  const url = requestContext.path.slice(0, -resource.length) || '/';
  return { body: JSON.stringify({ ...document, servers: [{ url }] }) };
});
