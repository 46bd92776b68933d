import type { APIGatewayProxyResult } from 'aws-lambda';
import type { Page } from '../data/lists/query.ts';
import { InvalidInput } from '../errors.ts';

/** What an endpoint answers with: a JSON text, so that stored JSON can be passed on as it is, and headers of its own. */
export interface Reply {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The envelope of success around one value. */
export function success(data: unknown): Reply {
  return { body: `{${envelope},"data":${JSON.stringify(data)}}` };
}

export interface Pagination {
  readonly total: number;
  readonly start: number;
  readonly end: number;
}

/** The envelope of success around JSON texts, one for each item. */
export function successList(items: readonly string[], pagination: Pagination): Reply {
  return { body: `{${envelope},"data":[${items.join()}],"pagination":${JSON.stringify(pagination)}}` };
}

const envelope = '"status":"success","message":"OK.","code":"200"';

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

/**
 * A page of a list. `start` and `end` are 0-based, `end` exclusive: the next offset; `Content-Range` counts from 1 and
 * includes both ends, as pages did before the envelope had a pagination. Throws InvalidInput for a page of more bytes
 * than one response holds: a smaller `limit` gets it.
 */
export function pageReply(query: { offset: number; limit: number }, { items, total }: Page<unknown>): Reply {
  const { offset, limit } = query;
  const end = Math.max(offset, Math.min(offset + limit, total));
  const reply = successList(
    items.map((item) => JSON.stringify(item)),
    { total, start: offset, end },
  );
  if (!fitsLambdaResponse(reply.body)) {
    const msg = 'The page is larger than a response may be: ask for fewer items';
    throw new InvalidInput([{ loc: ['query', 'limit'], msg, type: 'page_too_large' }]);
  }
  const range = items.length === 0 ? '*' : `${offset + 1}-${offset + items.length}`;
  return {
    ...reply,
    headers: { 'Content-Range': `${range}/${total}`, 'Access-Control-Expose-Headers': 'Content-Range' },
  };
}
