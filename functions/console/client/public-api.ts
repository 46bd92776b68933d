/** The calls of the public API. The console knows no other source. */

import type { Fault } from './fault-places.ts';
import { apiAddress } from './page-settings.ts';

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

export interface Pagination {
  readonly total: number;
  readonly start: number;
  readonly end: number;
  /** By status, where a list was asked to count by it. */
  readonly counts?: Readonly<Record<string, number>>;
}

export interface Answer<Data> {
  readonly data: Data;
  readonly pagination: Pagination | undefined;
  /** When the service asks to be called again, in seconds; undefined where it says nothing. */
  readonly retryAfter: number | undefined;
}

/** The service refused a call, or did not answer: the texts are its own. */
export class CallFailed extends Error {
  /** 0 where no answer came. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly faults: readonly Fault[];

  constructor(status: number, body: Partial<ErrorBody>, requestId?: string) {
    const { description } = body.data ?? {};
    super(typeof description === 'string' ? description : (body.message ?? `The answer was ${status}.`));
    this.status = status;
    this.code = body.code ?? String(status);
    this.requestId = requestId;
    this.faults = Array.isArray(description) ? description : (body.detail ?? []);
  }
}

interface ErrorBody {
  readonly message: string;
  readonly code: string;
  readonly data: { readonly description?: string | readonly Fault[] };
  readonly detail: readonly Fault[];
}

interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly query?: Query;
  readonly body?: unknown;
  /** Under which a repeated creation is answered as the first was. */
  readonly idempotencyKey?: string;
  /** The form of the answer where it is not to be JSON: its text is the data. */
  readonly accept?: 'text/csv';
  readonly signal?: AbortSignal;
}

export interface Api {
  /** Throws CallFailed. `path` follows the service's address: `/api/v1/batches`. */
  call<Data>(path: string, call?: Call): Promise<Answer<Data>>;
}

/** How often a call that changes nothing is repeated when the service is busy. */
const maxAttempts = 3;

/**
 * An API for someone: `tokenOf` gives a token that is valid now, and is not the one that the
 * service has refused.
 */
export function createApi(tokenOf: (refused?: string) => Promise<string>): Api {
  return {
    async call<Data>(path: string, call: Call = {}): Promise<Answer<Data>> {
      let token = await tokenOf();
      for (let attempt = 1; ; attempt++) {
        const response = await send(path, call, token);
        // The clock of this device may be wrong, or the issuer may have taken the token back.
        if (response.status === 401 && attempt === 1) {
          token = await tokenOf(token);
          continue;
        }
        const requestId = response.headers.get('x-request-id') ?? undefined;
        const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
        const isBusy = response.status === 429 || response.status === 503;
        if (isBusy && attempt < maxAttempts) {
          await pause((Number.isNaN(retryAfter) ? attempt : retryAfter) * 1_000);
          continue;
        }
        if (response.ok && call.accept !== undefined) {
          return { data: (await response.text()) as Data, pagination: undefined, retryAfter: undefined };
        }
        const body = await response.json().catch(() => ({}));
        if (!response.ok) throw new CallFailed(response.status, body as Partial<ErrorBody>, requestId);
        // It broke off on its way, or the call was aborted.
        if (!('data' in body)) throw new CallFailed(0, { message: 'The answer is not whole.' }, requestId);
        const { data, pagination } = body as { data: Data; pagination?: Pagination };
        return { data, pagination, retryAfter: Number.isNaN(retryAfter) ? undefined : retryAfter };
      }
    },
  };
}

async function send(
  path: string,
  { method = 'GET', query = {}, body, idempotencyKey, accept, signal }: Call,
  token: string,
): Promise<Response> {
  const init = {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(accept !== undefined && { Accept: accept }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  };
  try {
    return await fetch(`${apiAddress()}${path}${queryText(query)}`, init);
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw noAnswer();
  }
}

export function noAnswer(): CallFailed {
  return new CallFailed(0, { code: 'no_answer', message: 'The service did not answer. Are you online?' });
}

/** `?` and the parameters that are there, in their order; lists repeat their name. */
export function queryText(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of [value].flat())
      if (each !== undefined && each !== null && each !== '') parameters.append(name, String(each));
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
