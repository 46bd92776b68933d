import { type InputFault, InvalidInput, type ServiceError } from '../errors.ts';
import { errorBody, type Reason, reasons } from '../reasons.ts';
import type { HttpReply } from './reply.ts';

/**
 * The answer to a request that failed; undefined means an unexpected error. A 5xx does not show its
 * cause.
 */
export function errorReply(error: ServiceError | undefined): HttpReply {
  const { reason = 'internal_error', headers = {} } = error ?? {};
  const body = JSON.stringify(errorBody(reason, descriptionOf(reason, error), error?.details));
  return { status: reasons[reason].status, headers, body };
}

function descriptionOf(reason: Reason, error: ServiceError | undefined): string | readonly InputFault[] {
  if (reason === 'timeout') return 'The request took too long.';
  if (reason === 'internal_error' || error === undefined) return 'The request could not be served.';
  return error instanceof InvalidInput ? error.faults : error.message;
}
