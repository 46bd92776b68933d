import document from '../../../openapi.json' with { type: 'json' };
import { publicEndpoint } from '../../http/endpoint.ts';

/** The OpenAPI document of this service, with the path under which it was reached: on AWS the stage's. */
export const handler = publicEndpoint(({ resource, requestContext }) => {
  const url = requestContext.path.slice(0, -resource.length) || '/';
  return { body: JSON.stringify({ ...document, servers: [{ url }] }) };
});
