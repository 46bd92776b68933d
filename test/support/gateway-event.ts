import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { type RouteName, routes } from '../../functions/routes.ts';
import { identityOf } from '../../infra/local/gateway/proxy-event.ts';
import { decodeComponent } from '../../infra/local/service/http-server.ts';

export interface GatewayRequest {
  /** The caller; absent on a route without authorizer. */
  readonly userId?: string;
  /** When the caller's token expires, in epoch seconds. Default: in an hour. */
  readonly exp?: number;
  /** The scope of the caller's token. Default: none. */
  readonly scope?: string;
  /** What else the authorizer hands on of the token. Default: nothing. */
  readonly claims?: Readonly<Record<string, string>>;
  readonly method?: string;
  /** As in a URL: `limit=10&status=DONE&status=ERROR`; an object's arrays repeat the key. */
  readonly query?: string | Readonly<Record<string, string | readonly string[]>>;
  readonly path?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  /** A list repeats the header. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /**
   * True: the body is given in base64. False: the gateway hands it over as text. Default: the
   * gateway encodes it in base64.
   */
  readonly isBase64Encoded?: boolean;
}

/**
 * The event that API Gateway (REST API, Lambda proxy) makes of a request to a route, complete. Its
 * path is decoded, its parameters are as given.
 */
export function gatewayEvent(routeName: RouteName, request: GatewayRequest = {}): APIGatewayProxyEvent {
  const route = routes[routeName];
  const requestId = randomUUID();
  const { path: pathParameters, body, exp = Math.floor(Date.now() / 1000) + 3600 } = request;
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    decodeComponent(pathParameters?.[name] ?? `{${name}}`),
  );
  const method = request.method ?? route.method;
  const headers: Record<string, string | readonly string[]> = {
    Accept: '*/*',
    Host: 'a1b2c3d4e5.execute-api.eu-west-3.amazonaws.com',
    'User-Agent': 'PythonSDK/0.23.0',
    'X-Amzn-Trace-Id': 'Root=1-67891233-abcdef012345678912345678',
    'X-Forwarded-For': '203.0.113.7',
    'X-Forwarded-Port': '443',
    'X-Forwarded-Proto': 'https',
    'content-type': 'application/json',
    ...request.headers,
  };
  const query = queryValues(request.query ?? {});
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
  return {
    resource: route.path,
    path,
    httpMethod: method,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().at(-1)])),
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()])),
    queryStringParameters: query && Object.fromEntries(Object.entries(query).map(([name, all]) => [name, all.at(-1)])),
    multiValueQueryStringParameters: query,
    pathParameters: pathParameters === undefined ? null : { ...pathParameters },
    stageVariables: null,
    requestContext: {
      accountId: '123456789012',
      apiId: 'a1b2c3d4e5',
      authorizer:
        request.userId === undefined
          ? null
          : {
              principalId: request.userId,
              exp: String(exp),
              scope: request.scope ?? '',
              ...request.claims,
              integrationLatency: 12,
            },
      domainName: 'a1b2c3d4e5.execute-api.eu-west-3.amazonaws.com',
      domainPrefix: 'a1b2c3d4e5',
      extendedRequestId: 'JKJaXmPLvHcESHA=',
      httpMethod: method,
      identity: identityOf('203.0.113.7', 'PythonSDK/0.23.0'),
      path: `/dev${path}`,
      protocol: 'HTTP/1.1',
      requestId,
      requestTime: '21/Nov/2026:02:59:36 +0000',
      requestTimeEpoch: Date.now(),
      resourceId: 'r3s0rc',
      resourcePath: route.path,
      stage: 'dev',
    },
    body: text === '' ? null : request.isBase64Encoded === undefined ? Buffer.from(text).toString('base64') : text,
    isBase64Encoded: text !== '' && request.isBase64Encoded !== false,
  };
}

/** The headers of every answer in the envelope to this event. */
export function commonHeaders({ requestContext }: APIGatewayProxyEvent) {
  return {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestContext.requestId,
    'Access-Control-Allow-Origin': '*',
  };
}

/**
 * The context of an invocation. However long it takes, `milliseconds` are left: by default far more
 * than functions have on AWS.
 */
export function lambdaContext(milliseconds = 600_000): Context {
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: 'function-under-test',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:eu-west-3:123456789012:function:function-under-test',
    memoryLimitInMB: '1024',
    awsRequestId: randomUUID(),
    logGroupName: '/aws/lambda/function-under-test',
    logStreamName: '2026/11/21/[$LATEST]0123456789abcdef0123456789abcdef',
    getRemainingTimeInMillis: () => milliseconds,
    done: () => undefined,
    fail: () => undefined,
    succeed: () => undefined,
  };
}

function queryValues(query: NonNullable<GatewayRequest['query']>): Record<string, string[]> | null {
  const pairs =
    typeof query === 'string'
      ? [...new URLSearchParams(query)]
      : Object.entries(query).flatMap(([name, values]) =>
          [values].flat().map((value) => [name, value as string] as const),
        );
  if (pairs.length === 0) return null;
  // As JSON.parse makes an event: every name is a member of its own, `__proto__` too.
  const grouped = Map.groupBy(pairs, ([name]) => name);
  return Object.fromEntries(Array.from(grouped, ([name, group]) => [name, group.map(([, value]) => value)]));
}
