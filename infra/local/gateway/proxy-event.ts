import { createHash } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { decodeComponent } from '../service/http-server.ts';
import type { ApiDefinition } from '../template/api-definition.ts';
import type { AccountContext } from '../template/resource-types.ts';
import { isBinaryMediaType } from './binary-media-types.ts';
import type { AuthorizerContext, GatewayRequest } from './gateway-request.ts';

/** A request that has passed the authorizer, its body decoded. */
export interface ProxyRequest {
  readonly request: GatewayRequest;
  readonly authorizer: AuthorizerContext | undefined;
  readonly body: Buffer;
}

/**
 * The event of a Lambda proxy integration of a REST API: without a stage in the URL, as through a
 * custom domain.
 */
export function proxyEvent(
  api: ApiDefinition,
  account: AccountContext,
  { request, authorizer, body }: ProxyRequest,
): APIGatewayProxyEvent {
  const forwarded = forwardedHeaders(request);
  const replaced = new Set(forwarded.map(([name]) => name.toLowerCase()));
  const headers = [
    ...headerPairs(request.rawHeaders).filter(([name]) => !replaced.has(name.toLowerCase())),
    ...forwarded,
  ];
  const path = decodeComponent(request.path);
  const isBinary = isBinaryMediaType(request.headers['content-type'], api.binaryMediaTypes);
  return {
    resource: request.resource!.path,
    path,
    httpMethod: request.method,
    headers: lastValues(headers) ?? {},
    multiValueHeaders: allValues(headers) ?? {},
    queryStringParameters: lastValues(request.query),
    multiValueQueryStringParameters: allValues(request.query),
    pathParameters: Object.keys(request.pathParameters).length === 0 ? null : { ...request.pathParameters },
    stageVariables: api.stageVariables === null ? null : { ...api.stageVariables },
    requestContext: {
      accountId: account.accountId,
      apiId: api.id,
      authorizer,
      domainName: request.headers.host ?? '',
      domainPrefix: (request.headers.host ?? '').split('.')[0] ?? '',
      extendedRequestId: request.extendedRequestId,
      httpMethod: request.method,
      identity: identityOf(request.sourceIp, request.headers['user-agent'] ?? null),
      path: request.stagePath + path,
      protocol: 'HTTP/1.1',
      requestId: request.requestId,
      requestTime: logTime(request.time),
      requestTimeEpoch: request.time,
      resourceId: request.resource!.path,
      resourcePath: request.resource!.path,
      stage: api.stage,
    },
    body: body.length === 0 ? null : body.toString(isBinary ? 'base64' : 'utf8'),
    isBase64Encoded: isBinary && body.length > 0,
  };
}

/** Who calls, as far as API Gateway knows it of a caller without an account of AWS. */
export function identityOf(
  sourceIp: string,
  userAgent: string | null,
): APIGatewayProxyEvent['requestContext']['identity'] {
  return {
    accessKey: null,
    accountId: null,
    apiKey: null,
    apiKeyId: null,
    caller: null,
    clientCert: null,
    cognitoAuthenticationProvider: null,
    cognitoAuthenticationType: null,
    cognitoIdentityId: null,
    cognitoIdentityPoolId: null,
    principalOrgId: null,
    sourceIp,
    user: null,
    userAgent,
    userArn: null,
  };
}

function headerPairs(raw: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) pairs.push([raw[index]!, raw[index + 1]!]);
  return pairs;
}

function forwardedHeaders({ headers, requestId, sourceIp }: GatewayRequest): [string, string][] {
  const port = headers.host?.split(':')[1] ?? '80';
  const root = createHash('md5').update(requestId).digest('hex').slice(0, 24);
  const given = [headers['x-forwarded-for'] ?? []].flat();
  return [
    ['X-Amzn-Trace-Id', `Root=1-${Math.floor(Date.now() / 1000).toString(16)}-${root}`],
    ['X-Forwarded-For', [...given, sourceIp].join(', ')],
    ['X-Forwarded-Port', port],
    ['X-Forwarded-Proto', 'http'],
  ];
}

function lastValues(pairs: readonly (readonly [string, string])[]): Record<string, string> | null {
  return pairs.length === 0 ? null : Object.fromEntries(pairs);
}

function allValues(pairs: readonly (readonly [string, string])[]): Record<string, string[]> | null {
  if (pairs.length === 0) return null;
  const groups = Map.groupBy(pairs, ([name]) => name);
  return Object.fromEntries([...groups].map(([name, all]) => [name, all.map(([, value]) => value)]));
}

/** `21/Nov/2026:02:59:36 +0000`. */
function logTime(time: number): string {
  const [, day, month, year, clock] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+)/.exec(new Date(time).toUTCString()) ?? [];
  return `${day}/${month}/${year}:${clock} +0000`;
}
