import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Reply } from './reply.ts';

/** A reply as API Gateway takes it, with the headers that every response has. */
export function proxyResult(statusCode: number, reply: Reply, requestId: string): APIGatewayProxyResult {
  return {
    statusCode,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': requestId,
      'Access-Control-Allow-Origin': '*',
      ...reply.headers,
    },
    body: reply.body,
  };
}

/** Lambda returns at most 6 MB, the body being a JSON string in it; the rest is left for the headers. */
const maxBytes = 6 * 1024 * 1024 - 16 * 1024;

/** Whether Lambda can return this body. */
export function fitsLambdaResponse(body: string): boolean {
  // A unit of well-formed text takes at most three bytes: UTF-8 of three, or an escape of two.
  return body.length * 3 <= maxBytes || Buffer.byteLength(JSON.stringify(body)) <= maxBytes;
}
