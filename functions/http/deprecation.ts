import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as z from 'zod/mini';

/** Since when the deprecated parameters are deprecated: 2026-01-01, as RFC 9745 writes a date. */
const deprecatedSince = '@1767225600';

/** Makes the headers (RFC 9745) of requests that use a deprecated parameter. */
export function deprecation(query: z.ZodMiniType | undefined): (event: APIGatewayProxyEvent) => Record<string, string> {
  const names = deprecatedParameters(query);
  return ({ resource, multiValueQueryStringParameters }) => {
    if (!names.some((name) => multiValueQueryStringParameters?.[name] !== undefined)) return {};
    const root = '../'.repeat(resource.split('/').length - 2);
    return { Deprecation: deprecatedSince, Link: `<${root}openapi.json>; rel="deprecation"; type="application/json"` };
  };
}

/** The parameters that the query's schema calls deprecated. */
export function deprecatedParameters(query: z.ZodMiniType | undefined): string[] {
  return Object.entries(parameterSchemas(query))
    .filter(([, schema]) => z.globalRegistry.get(schema)?.deprecated === true)
    .map(([name]) => name);
}

/** The schema of each parameter, of an object or of one that is transformed further. */
export function parameterSchemas(schema: z.ZodMiniType | undefined): Readonly<Record<string, z.ZodMiniType>> {
  const object = schema instanceof z.ZodMiniPipe ? schema.def.in : schema;
  return object instanceof z.ZodMiniObject ? (object.shape as Record<string, z.ZodMiniType>) : {};
}
