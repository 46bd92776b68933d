import { createHash } from 'node:crypto';
import { type IncomingHttpHeaders, validateHeaderName, validateHeaderValue } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { decodeComponent } from '../http-server.ts';
import type { ApiDefinition, ResourceDefinition } from '../template/api-definition.ts';
import type { Place } from '../template/template.ts';
import type { AuthorizerContext } from './authorizers.ts';
import { type Answer, GatewayProblem } from './gateway-answer.ts';

/** A request as the gateway knows it. */
export interface GatewayRequest {
  readonly requestId: string;
  readonly extendedRequestId: string;
  readonly method: string;
  /** Still encoded. */
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingHttpHeaders;
  readonly sourceIp: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly resource: ResourceDefinition | undefined;
  readonly pathParameters: Readonly<Record<string, string>>;
}

/** The event of a Lambda proxy integration of a REST API, reached by a domain of its own (no stage in the path). */
export function proxyEvent(
  api: ApiDefinition,
  place: Place,
  request: GatewayRequest,
  authorizer: AuthorizerContext | undefined,
  body: Buffer,
): APIGatewayProxyEvent {
  const forwarded = forwardedHeaders(request);
  const replaced = new Set(forwarded.map(([name]) => name.toLowerCase()));
  const headers = [
    ...headerPairs(request.rawHeaders).filter(([name]) => !replaced.has(name.toLowerCase())),
    ...forwarded,
  ];
  const path = decodeComponent(request.path);
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
      accountId: place.accountId,
      apiId: api.id,
      authorizer,
      domainName: request.headers.host ?? '',
      domainPrefix: (request.headers.host ?? '').split('.')[0] ?? '',
      extendedRequestId: request.extendedRequestId,
      httpMethod: request.method,
      identity: {
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
        sourceIp: request.sourceIp,
        user: null,
        userAgent: request.headers['user-agent'] ?? null,
        userArn: null,
      },
      path,
      protocol: 'HTTP/1.1',
      requestId: request.requestId,
      requestTime: logTime(request.time),
      requestTimeEpoch: request.time,
      resourceId: request.resource!.id,
      resourcePath: request.resource!.path,
      stage: api.stage,
    },
    body: body.length === 0 ? null : body.toString('utf8'),
    isBase64Encoded: false,
  };
}

/** Header names that a function may not set: API Gateway sends them under another name. */
const remappedHeaders = new Set([
  'connection',
  'content-length',
  'date',
  'expect',
  'host',
  'max-forwards',
  'proxy-authenticate',
  'server',
  'te',
  'trailer',
  'upgrade',
  'via',
  'www-authenticate',
]);

/** The answer that a function's result stands for. Throws GatewayProblem where it is not of the form that API Gateway asks for. */
export function proxyResponse(result: unknown): Answer {
  const malformed = new GatewayProblem('DEFAULT_5XX', 502);
  if (typeof result !== 'object' || result === null || Array.isArray(result)) throw malformed;
  const known = ['statusCode', 'headers', 'multiValueHeaders', 'body', 'isBase64Encoded', 'cookies'];
  const { statusCode, headers, multiValueHeaders, body, isBase64Encoded } = result as Record<string, unknown>;
  const status = Number(statusCode);
  if (Object.keys(result).some((key) => !known.includes(key))) throw malformed;
  if (!Number.isInteger(status) || status < 100 || status > 599) throw malformed;
  if (body !== undefined && body !== null && typeof body !== 'string') throw malformed;
  const multiple = headerObject(multiValueHeaders);
  const single = headerObject(headers);
  if (multiple === undefined || single === undefined) throw malformed;
  const names = new Set(multiple.map(([name]) => name.toLowerCase()));
  const pairs = [...single.filter(([name]) => !names.has(name.toLowerCase())), ...multiple]
    .filter(([name]) => name.toLowerCase() !== 'transfer-encoding')
    .map(
      ([name, value]) => [remappedHeaders.has(name.toLowerCase()) ? `x-amzn-Remapped-${name}` : name, value] as const,
    );
  if (!pairs.some(([name]) => name.toLowerCase() === 'content-type')) pairs.push(['Content-Type', 'application/json']);
  return {
    status,
    headers: pairs,
    body: Buffer.from(String(body ?? ''), isBase64Encoded === true ? 'base64' : 'utf8'),
  };
}

/** Names and values; undefined where they are no HTTP headers. */
function headerObject(value: unknown): [string, string][] | undefined {
  if (value === undefined || value === null) return [];
  if (typeof value !== 'object' || Array.isArray(value)) return undefined;
  const pairs = Object.entries(value).flatMap(([name, each]) =>
    [each].flat().map((one): [string, unknown] => [name, one]),
  );
  if (!pairs.every(([, one]) => ['string', 'number', 'boolean'].includes(typeof one))) return undefined;
  try {
    return pairs.map(([name, one]) => {
      validateHeaderName(name);
      validateHeaderValue(name, String(one));
      return [name, String(one)];
    });
  } catch {
    return undefined;
  }
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
