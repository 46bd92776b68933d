/**
 * Every status that this API answers with, its name in the envelope, and the envelope of errors.
 */

export const successNames = { 200: 'OK.', 201: 'Created.' } as const;

export type SuccessStatus = keyof typeof successNames;

/** Node's own table comes with all of `node:http`: 25 ms of a cold start. */
export const errorNames = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Payload Too Large',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  504: 'Gateway Timeout',
} as const;

export type ErrorStatus = keyof typeof errorNames;

/**
 * The body of every error, whoever answers it: a function, the gateway, or the examples of the
 * OpenAPI document. `data` is always an object, because clients read `data.description`; faults of
 * the input stand in `detail` as well.
 */
export function errorBody(status: ErrorStatus, description: string | readonly object[]) {
  return {
    status: status >= 500 ? 'error' : 'fail',
    message: errorNames[status],
    code: String(status),
    data: { description },
    ...(typeof description !== 'string' && { detail: description }),
  };
}
