/** Every status that this API answers with, and its name in the envelope. */

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
