import { errorBody, type Reason } from '../../functions/reasons.ts';

/**
 * An answer that API Gateway gives itself, before a function is called or in place of its answer.
 */
export interface GatewayAnswer {
  readonly reason: Reason;
  readonly description: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const unauthorized: GatewayAnswer = {
  reason: 'invalid_token',
  description: 'A valid bearer token is required.',
  headers: { 'WWW-Authenticate': 'Bearer' },
};
const forbidden: GatewayAnswer = { reason: 'access_denied', description: 'The token does not allow this.' };
const unknownRoute: GatewayAnswer = { reason: 'unknown_route', description: 'There is no such route.' };
const badRequest: GatewayAnswer = { reason: 'invalid_input', description: 'The request could not be read.' };
const throttled: GatewayAnswer = {
  reason: 'throttled',
  description: 'Too many requests, try again later.',
  headers: { 'Retry-After': '1' },
};
const failure: GatewayAnswer = { reason: 'internal_error', description: 'The request could not be served.' };

/**
 * One answer for every gateway response type, since the default bodies, `{"message": …}`, lack the
 * envelope.
 */
export const gatewayAnswers = {
  ACCESS_DENIED: forbidden,
  API_CONFIGURATION_ERROR: failure,
  AUTHORIZER_CONFIGURATION_ERROR: failure,
  AUTHORIZER_FAILURE: failure,
  BAD_REQUEST_BODY: badRequest,
  BAD_REQUEST_PARAMETERS: badRequest,
  DEFAULT_4XX: badRequest,
  DEFAULT_5XX: failure,
  EXPIRED_TOKEN: unauthorized,
  INTEGRATION_FAILURE: failure,
  INTEGRATION_TIMEOUT: { reason: 'timeout', description: 'The request took too long.' },
  INVALID_API_KEY: forbidden,
  INVALID_SIGNATURE: unauthorized,
  // API Gateway's name for an unknown path, or an unknown method of a path.
  MISSING_AUTHENTICATION_TOKEN: unknownRoute,
  QUOTA_EXCEEDED: throttled,
  REQUEST_TOO_LARGE: { reason: 'payload_too_large', description: 'The request is too large.' },
  RESOURCE_NOT_FOUND: unknownRoute,
  THROTTLED: throttled,
  UNAUTHORIZED: unauthorized,
  UNSUPPORTED_MEDIA_TYPE: badRequest,
  WAF_FILTERED: forbidden,
} as const satisfies Record<string, GatewayAnswer>;

/** The body of an answer, as of all errors; a 422 has a list of faults. */
export function gatewayBody({ reason, description }: GatewayAnswer) {
  const faults = [{ loc: ['body'], msg: description, type: 'value_error' }];
  return errorBody(reason, reason === 'invalid_input' ? faults : description);
}
