import { type InputFault, InvalidInput, type ServiceError } from '../errors.ts';
import { type ErrorStatus, errorBody } from '../http-statuses.ts';
import type { HttpReply } from './reply.ts';

/**
 * The answer to a request that failed. A 5xx says nothing of its cause; undefined stands for what
 * nobody meant to throw.
 */
export function errorReply(error: ServiceError | undefined): HttpReply {
  const { status = 500, headers = {} } = error ?? {};
  return { status, headers, body: JSON.stringify(errorBody(status, descriptionOf(status, error))) };
}

function descriptionOf(status: ErrorStatus, error: ServiceError | undefined): string | readonly InputFault[] {
  if (status === 504) return 'The request took too long.';
  if (status >= 500 || error === undefined) return 'The request could not be served.';
  return error instanceof InvalidInput ? error.faults : error.message;
}
