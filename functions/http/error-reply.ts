import { InvalidInput, type ServiceError } from '../errors.ts';
import type { Reply } from './reply.ts';

/** The body of an error: `data` is an object always, for clients read `data.description`. A 5xx says nothing of its cause. */
export function errorReply(status: number, error: ServiceError | undefined): Reply {
  const faults = error instanceof InvalidInput ? error.faults : undefined;
  const description = faults ?? (status >= 500 || error === undefined ? descriptionOf(status) : error.message);
  const body = {
    status: status >= 500 ? 'error' : 'fail',
    message: statusNames[status],
    code: String(status),
    data: { description },
    ...(faults !== undefined && { detail: faults }),
  };
  return { body: JSON.stringify(body), ...(error !== undefined && { headers: error.headers }) };
}

/** Those that this service answers with. Node's own table comes with all of `node:http`: 25 ms of a cold start. */
const statusNames: Readonly<Record<number, string>> = {
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
};

function descriptionOf(status: number): string {
  return status === 504 ? 'The request took too long.' : 'The request could not be served.';
}
