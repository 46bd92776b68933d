import type { APIGatewayProxyResult } from 'aws-lambda';
import { InvalidInput } from '../errors.ts';
import { type SuccessStatus, successNames } from '../http-statuses.ts';
import type { Page } from '../values/page.ts';

type Headers = Readonly<Record<string, string>>;

/**
 * What an endpoint answers with: the envelope's `data` and `pagination`, or a whole body without
 * the envelope. JSON is text here, so that stored JSON can be passed on as it is.
 */
export type Reply = { readonly headers?: Headers } & (
  | { readonly data: string; readonly pagination?: Pagination }
  | { readonly body: string }
);

export interface Pagination {
  readonly total: number;
  readonly start: number;
  readonly end: number;
  readonly counts?: Readonly<Record<string, number>>;
}

/** An answer with its status: of success or of an error. */
export interface HttpReply {
  readonly status: number;
  readonly body: string;
  readonly headers: Headers;
  /** The body is base64, of bytes that the gateway sends. */
  readonly isBase64Encoded?: true;
}

export function success(value: unknown): Reply {
  return { data: JSON.stringify(value) };
}

/** The headers that ask a client to come again after this number of seconds; none for undefined. */
export function retryAfter(seconds: number | undefined): Headers {
  if (seconds === undefined) return {};
  return { 'Retry-After': String(seconds), 'Access-Control-Expose-Headers': 'Retry-After' };
}

/** The first of these values that fits into one response. Throws when none does. */
export function firstThatFits(...values: readonly unknown[]): Reply {
  for (const value of values) {
    const reply = success(value);
    if (fitsOneAnswer(reply)) return reply;
  }
  throw new Error('The answer is larger than a response may be.');
}

/** A list. `write` gives the JSON of an item. */
export function successList<Item>(
  items: readonly Item[],
  pagination: Pagination,
  write: (item: Item) => string = (item) => JSON.stringify(item),
): Reply {
  return { data: `[${items.map((item) => write(item)).join()}]`, pagination };
}

/** A reply in the envelope of its status, unless it brings a whole body. */
export function successReply(status: SuccessStatus, reply: Reply): HttpReply {
  return { status, headers: reply.headers ?? {}, body: 'body' in reply ? reply.body : wrapInEnvelope(status, reply) };
}

function wrapInEnvelope(
  status: SuccessStatus,
  { data, pagination }: Exclude<Reply, { readonly body: string }>,
): string {
  const end = pagination === undefined ? '' : `,"pagination":${JSON.stringify(pagination)}`;
  return `{"status":"success","message":"${successNames[status]}","code":"${status}","data":${data}${end}}`;
}

/** A reply as API Gateway takes it, with the headers that every response has. */
export function proxyResult({ status, headers, ...content }: HttpReply, requestId: string): APIGatewayProxyResult {
  return {
    statusCode: status,
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': requestId,
      'Access-Control-Allow-Origin': '*',
      ...headers,
    },
    ...content,
  };
}

/**
 * Lambda returns at most 6 MB, in which the body is a JSON string; the rest is left for the
 * headers.
 */
export const maxBodyBytes = 6 * 1024 * 1024 - 16 * 1024;

/** Whether Lambda can return this reply. */
export function fitsOneAnswer(reply: Reply): boolean {
  return fitsLambdaResponse(successReply(200, reply).body);
}

/** Whether Lambda can return this body. */
export function fitsLambdaResponse(body: string): boolean {
  // A UTF-16 unit of well-formed text takes at most three bytes: three of UTF-8, or an escape of
  // two.
  return body.length * 3 <= maxBodyBytes || Buffer.byteLength(JSON.stringify(body)) <= maxBodyBytes;
}

/**
 * A page of any list; `write` gives the JSON of an item. `start` and `end` are 0-based, with `end`
 * exclusive, so it is the next offset. `Content-Range` counts from 1 and includes both ends, as
 * pages did before the envelope had a pagination. Throws InvalidInput when the page is larger than
 * one response: a smaller `limit` helps.
 */
export function pageReply<Item>(
  { offset, limit }: { readonly offset: number; readonly limit: number },
  { items, total }: Page<Item>,
  write?: (item: Item) => string,
): Reply {
  const end = Math.max(offset, Math.min(offset + limit, total));
  const reply = successList(items, { total, start: offset, end }, write);
  if (!fitsOneAnswer(reply)) {
    const msg = 'The page is larger than a response may be: ask for fewer items';
    throw new InvalidInput([{ loc: ['query', 'limit'], msg, type: 'page_too_large' }]);
  }
  const range = items.length === 0 ? '*' : `${offset + 1}-${offset + items.length}`;
  return { ...reply, headers: contentRange(range, total) };
}

/** The answer that counts a list instead of showing a page. */
export function countsReply(counts: Readonly<Record<string, number>>): Reply {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { ...successList([], { total, start: 0, end: 0, counts }), headers: contentRange('*', total) };
}

function contentRange(range: string, total: number): Headers {
  return { 'Content-Range': `${range}/${total}`, 'Access-Control-Expose-Headers': 'Content-Range' };
}
