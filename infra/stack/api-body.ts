import { type Route, type RouteName, routes } from '../../functions/routes.ts';
import { tls } from './custom-domain.ts';
import { type GatewayAnswer, gatewayAnswers, gatewayBody } from './gateway-responses.ts';

interface ApiBodyProps {
  readonly title: string;
  /** How long the gateway keeps the authorizer's answer for a token. */
  readonly authorizerCacheSeconds: number;
  /** The ARN of the role in which API Gateway calls the functions. */
  readonly role: string;
  /** The URI by which API Gateway calls a function. */
  readonly invocationUri: (name: RouteName | 'authorizer' | 'methodNotAllowed') => string;
}

const securityScheme = 'token';

/**
 * Every `Authorization` that the authorizer may accept: a bearer token of three parts in base64url.
 * The gateway answers any other 401 without calling the authorizer. The expression means the same
 * to Java, which API Gateway is written in, and to JavaScript.
 */
export const tokenPattern = '^[Bb][Ee][Aa][Rr][Ee][Rr] +[A-Za-z0-9_-]+([.][A-Za-z0-9_-]+){2} *$';

/**
 * The API as API Gateway imports it: OpenAPI 3.0 with API Gateway's extensions. Clients read
 * another document, openapi.json.
 */
export function apiBody({ title, authorizerCacheSeconds, role, invocationUri }: ApiBodyProps) {
  const noRoute = (path: string) => ({
    'x-amazon-apigateway-any-method': callFunction(path, { role, uri: invocationUri('methodNotAllowed') }),
  });
  const byPath = Map.groupBy(Object.entries<Route>(routes), ([, { path }]) => path);
  const known = Array.from(byPath, ([path, ofPath]) => [
    path,
    {
      ...Object.fromEntries(
        ofPath.map(([name, route]) => [
          route.method.toLowerCase(),
          {
            ...callFunction(path, { role, uri: invocationUri(name as RouteName) }),
            ...(route.public !== true && { security: [{ [securityScheme]: [] }] }),
          },
        ]),
      ),
      options: answerPreflight(
        path,
        ofPath.map(([, { method }]) => method),
      ),
      ...noRoute(path),
    },
  ]);
  // API Gateway itself would take the bearer token of a request to an unknown path for a broken AWS
  // signature and answer 403 instead of 404. `/{path+}` leaves out the nodes between the root and
  // the routes: they are resources, too.
  const unknown = ['/', '/{path+}', ...innerNodes([...byPath.keys()])].map((path) => [path, noRoute(path)]);
  return {
    openapi: '3.0.1',
    info: { title, version: '1.0' },
    paths: Object.fromEntries([...known, ...unknown]),
    components: {
      securitySchemes: {
        [securityScheme]: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          'x-amazon-apigateway-authtype': 'custom',
          'x-amazon-apigateway-authorizer': {
            type: 'token',
            authorizerUri: invocationUri('authorizer'),
            authorizerCredentials: role,
            authorizerResultTtlInSeconds: authorizerCacheSeconds,
            identityValidationExpression: tokenPattern,
          },
        },
      },
    },
    'x-amazon-apigateway-gateway-responses': Object.fromEntries(
      Object.entries<GatewayAnswer>(gatewayAnswers).map(([type, answer]) => [type, gatewayResponse(answer)]),
    ),
    // Bodies reach the functions as bytes: text would arrive with U+FFFD in place of what is not
    // UTF-8.
    'x-amazon-apigateway-binary-media-types': ['*/*'],
    'x-amazon-apigateway-security-policy': tls.securityPolicy,
    'x-amazon-apigateway-endpoint-access-mode': tls.endpointAccessMode,
    // A request body smaller than this would reach the function as it was sent: still compressed.
    'x-amazon-apigateway-minimum-compression-size': 0,
  };
}

/** What lies on the way to these paths, and is none of them. */
function innerNodes(paths: readonly string[]): readonly string[] {
  const ways = paths.flatMap((path) =>
    Array.from(path.slice(1).matchAll(/\//g), ({ index }) => path.slice(0, index + 1)),
  );
  return [...new Set(ways)].filter((way) => !paths.includes(way)).sort();
}

function callFunction(path: string, { role: credentials, uri }: { readonly role: string; readonly uri: string }) {
  return {
    ...declareParameters(path),
    responses: { 200: { description: 'What the function answers' } },
    'x-amazon-apigateway-integration': { type: 'aws_proxy', httpMethod: 'POST', uri, credentials },
  };
}

/** What browsers ask before a call from a page of another host. */
function answerPreflight(path: string, methods: readonly string[]) {
  // From any origin: unlike a cookie, a token is never sent by the browser on its own.
  const headers = {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': methods.join(),
    'Access-Control-Allow-Headers': 'Authorization,Content-Type,Content-Encoding,Idempotency-Key',
    'Access-Control-Max-Age': '3600',
  };
  const declared = Object.keys(headers).map((name) => [name, { schema: { type: 'string' } }]);
  return {
    ...declareParameters(path),
    responses: { 204: { description: 'What a browser may send', headers: Object.fromEntries(declared) } },
    'x-amazon-apigateway-integration': {
      type: 'mock',
      requestTemplates: { 'application/json': '{ statusCode: 200 }' },
      // By default a body of another type is passed on: the mock finds no status in it, and fails.
      passthroughBehavior: 'never',
      // The template fails on a binary body, also on an empty one.
      contentHandling: 'CONVERT_TO_TEXT',
      responses: { default: { statusCode: '204', responseParameters: literals('method.response', headers) } },
    },
  };
}

function declareParameters(path: string) {
  const names = Array.from(path.matchAll(/\{(\w+)\+?\}/g), ([, name]) => name);
  if (names.length === 0) return {};
  return { parameters: names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })) };
}

function gatewayResponse(answer: GatewayAnswer) {
  const headers = {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': 'X-Request-Id',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...answer.headers,
  };
  return {
    statusCode: gatewayBody(answer).code,
    responseParameters: {
      ...literals('gatewayresponse', headers),
      'gatewayresponse.header.X-Request-Id': 'context.requestId',
    },
    responseTemplates: { 'application/json': JSON.stringify(gatewayBody(answer)) },
  };
}

/** Headers with constant values, in the notation of API Gateway. */
function literals(owner: string, headers: Readonly<Record<string, string>>) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [`${owner}.header.${name}`, `'${value}'`]));
}
