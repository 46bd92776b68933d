import document from '../../openapi.json' with { type: 'json' };
import { publicEndpoint } from '../http/endpoint.ts';

const body = JSON.stringify(document);

/** The OpenAPI document of this service. */
export const handler = publicEndpoint(() => ({ body }));
