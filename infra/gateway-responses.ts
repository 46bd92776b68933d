import { type ErrorStatus, errorBody } from '../functions/http-statuses.ts';

/**
 * An answer that API Gateway gives itself, before a function is called or in place of its answer.
 */
export interface GatewayAnswer {
  readonly status: ErrorStatus;
  readonly description: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const challenge = { 'WWW-Authenticate': 'Bearer' };
const retry = { 'Retry-After': '1' };

const unauthorized: GatewayAnswer = {
  status: 401,
  description: 'A valid bearer token is required.',
  headers: challenge,
};
const forbidden: GatewayAnswer = { status: 403, description: 'The token does not allow this.' };
const unknownRoute: GatewayAnswer = { status: 404, description: 'There is no such route.' };
const badRequest: GatewayAnswer = { status: 422, description: 'The request could not be read.' };
const throttled: GatewayAnswer = { status: 429, description: 'Too many requests, try again later.', headers: retry };
const failure: GatewayAnswer = { status: 500, description: 'The request could not be served.' };

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
  INTEGRATION_TIMEOUT: { status: 504, description: 'The request took too long.' },
  INVALID_API_KEY: forbidden,
  INVALID_SIGNATURE: unauthorized,
  // API Gateway's name for an unknown path, or an unknown method of a path.
  MISSING_AUTHENTICATION_TOKEN: unknownRoute,
  QUOTA_EXCEEDED: throttled,
  REQUEST_TOO_LARGE: { status: 413, description: 'The request is too large.' },
  RESOURCE_NOT_FOUND: unknownRoute,
  THROTTLED: throttled,
  UNAUTHORIZED: unauthorized,
  UNSUPPORTED_MEDIA_TYPE: badRequest,
  WAF_FILTERED: forbidden,
} as const satisfies Record<string, GatewayAnswer>;

/**
 * The body of an answer, in the envelope of all errors of this API; a 422 carries its list of
 * faults twice.
 */
export function gatewayBody({ status, description }: GatewayAnswer) {
  return errorBody(status, status === 422 ? [{ loc: ['body'], msg: description, type: 'value_error' }] : description);
}
