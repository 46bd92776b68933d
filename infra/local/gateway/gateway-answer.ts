import type { ApiDefinition, ResponseDefinition } from '../template/api-definition.ts';
import { renderTemplate, type TemplateContext } from '../template/mapping-template.ts';

export interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** API Gateway's response types with their default status and `$context.error.message`. */
const responseTypes = {
  ACCESS_DENIED: { status: 403, message: 'User is not authorized to access this resource' },
  API_CONFIGURATION_ERROR: { status: 500, message: 'Internal server error' },
  AUTHORIZER_CONFIGURATION_ERROR: { status: 500, message: 'Internal server error' },
  AUTHORIZER_FAILURE: { status: 500, message: 'Internal server error' },
  DEFAULT_4XX: { status: 400, message: 'Bad Request' },
  DEFAULT_5XX: { status: 500, message: 'Internal server error' },
  INTEGRATION_FAILURE: { status: 504, message: 'Network error communicating with endpoint' },
  INTEGRATION_TIMEOUT: { status: 504, message: 'Endpoint request timed out' },
  MISSING_AUTHENTICATION_TOKEN: { status: 403, message: 'Missing Authentication Token' },
  REQUEST_TOO_LARGE: { status: 413, message: 'Request Too Long' },
  UNAUTHORIZED: { status: 401, message: 'Unauthorized' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'Unsupported Media Type' },
} as const satisfies Record<string, { status: number; message: string }>;

type ResponseType = keyof typeof responseTypes;

/** Thrown when the gateway answers by itself, with the gateway response of this type. */
export class GatewayProblem extends Error {
  override readonly name = 'GatewayProblem';
  readonly responseType: ResponseType;
  /** The status unless the API's definition sets another. */
  readonly status: number;

  constructor(responseType: ResponseType, status?: number, message?: string) {
    super(message ?? responseTypes[responseType].message);
    this.responseType = responseType;
    this.status = status ?? responseTypes[responseType].status;
  }
}

/** Renders the API's gateway response: that of the type, otherwise DEFAULT_4XX or DEFAULT_5XX. */
export function gatewayAnswer(api: ApiDefinition, problem: GatewayProblem, context: TemplateContext): Answer {
  const fallback = problem.status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX';
  const definition = api.gatewayResponses[problem.responseType] ?? api.gatewayResponses[fallback];
  const values: TemplateContext = {
    ...context,
    'error.message': problem.message,
    'error.messageString': JSON.stringify(problem.message),
    'error.responseType': problem.responseType,
  };
  return renderResponse(
    { headers: {}, template: '{"message":$context.error.messageString}', ...definition },
    problem.status,
    values,
  );
}

/** An answer as its definition describes it; `status` where the definition has none. */
export function renderResponse(
  { statusCode, headers, template = '' }: ResponseDefinition,
  status: number,
  values: TemplateContext,
): Answer {
  const rendered = Object.entries(headers).map(
    ([name, value]) =>
      [name, value.startsWith("'") ? value.slice(1, -1) : (values[value.slice('context.'.length)] ?? '')] as const,
  );
  return {
    status: statusCode ?? status,
    headers: [['Content-Type', 'application/json'], ...rendered],
    body: Buffer.from(renderTemplate(template, values)),
  };
}
