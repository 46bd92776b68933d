import { deepEqual, equal, ok } from 'node:assert/strict';
import { STATUS_CODES } from 'node:http';
import type { Deployment } from './deployment.ts';

export interface Request {
  readonly method?: string;
  /** The deployment's token unless given; null sends none. */
  readonly authorization?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

interface Answer {
  /** What was asked, for messages. */
  readonly request: string;
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: checks say what they expect of it.
  readonly body: any;
}

/** Calls the API. Every answer but that to OPTIONS must be JSON. */
export async function call(
  { apiUrl, token }: Pick<Deployment, 'apiUrl' | 'token'>,
  path: string,
  { method = 'GET', authorization = `Bearer ${token}`, headers = {}, body }: Request = {},
): Promise<Answer> {
  const response = await fetch(apiUrl + path, {
    method,
    headers: { ...(authorization !== null && { Authorization: authorization }), ...headers },
    ...(body !== undefined && { body: body as string | Buffer<ArrayBuffer> }),
  });
  const text = await response.text();
  return {
    request: `${method} ${path}`,
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

/** That an answer has this status and what every answer has: the envelope, the headers. */
export function expectAnswer({ request, status, headers, body }: Answer, expected: number) {
  const text = JSON.stringify(body)?.slice(0, 200);
  equal(status, expected, `${request}: ${expected} expected, not ${status}: ${text}`);
  const kind = expected < 400 ? 'success' : expected < 500 ? 'fail' : 'error';
  deepEqual([body.status, body.code], [kind, String(expected)]);
  if (expected >= 400) equal(body.message, STATUS_CODES[expected]);
  ok(typeof body.data === 'object', 'data is an object or a list');
  if (expected === 422) deepEqual(body.data.description, body.detail);
  ok(headers.get('content-type')?.startsWith('application/json'), 'Content-Type: application/json');
  equal(headers.get('cache-control'), 'no-store');
  equal(headers.get('x-content-type-options'), 'nosniff');
  equal(headers.get('access-control-allow-origin'), '*');
  ok(headers.get('x-request-id'), 'X-Request-Id');
}
