import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as z from 'zod/mini';

/** 2026-01-01, as RFC 9745 writes a date: when the parameters that are deprecated became so. */
const deprecatedSince = '@1767225600';

/** Headers (RFC 9745) for requests that use a parameter which its schema calls deprecated. */
export function deprecation(query: z.ZodMiniType | undefined): (event: APIGatewayProxyEvent) => Record<string, string> {
  const object = query instanceof z.ZodMiniPipe ? query.def.in : query;
  const shape = object instanceof z.ZodMiniObject ? object.shape : {};
  const names = Object.keys(shape).filter(
    (name) => z.globalRegistry.get(shape[name] as z.ZodMiniType)?.deprecated === true,
  );
  return ({ resource, multiValueQueryStringParameters }) => {
    if (!names.some((name) => multiValueQueryStringParameters?.[name] !== undefined)) return {};
    const root = '../'.repeat(resource.split('/').length - 2);
    return { Deprecation: deprecatedSince, Link: `<${root}openapi.json>; rel="deprecation"; type="application/json"` };
  };
}
