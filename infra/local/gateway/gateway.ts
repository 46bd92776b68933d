import { randomBytes, randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { decodeComponent, parseTarget, readBody } from '../http-server.ts';
import { FunctionError, type LambdaFunction } from '../lambda/lambda-function.ts';
import type { ApiDefinition, MethodDefinition, ResourceDefinition } from '../template/api-definition.ts';
import { renderTemplate, type TemplateContext } from '../template/mapping-template.ts';
import type { Place } from '../template/template.ts';
import { type AuthorizerContext, createAuthorizers } from './authorizers.ts';
import { type Answer, GatewayProblem, gatewayAnswer } from './gateway-answer.ts';
import { compress, decompress } from './payload-compression.ts';
import { type GatewayRequest, proxyEvent, proxyResponse } from './proxy-integration.ts';

/** API Gateway's limits: of a request's body, and of its request line and header values together. */
const bodyLimit = 10 * 1024 * 1024;
const headLimit = 10_240;

/** The local gateway: answers a request, and a connection that sends what is no HTTP. */
export interface Gateway {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  handleUnreadable(error: NodeJS.ErrnoException, socket: Socket): void;
}

/**
 * Does what a stage of API Gateway's REST APIs does with the API's definition: routing, the token authorizer, proxy and
 * mock integrations, gateway responses, compression and limits. Not here: throttling, since one machine's pace is not
 * AWS's, usage plans and caching.
 */
export function createGateway(api: ApiDefinition, functions: readonly LambdaFunction[], place: Place): Gateway {
  const invoke = (functionArn: string, event: unknown) => {
    const target = functions.find(({ definition }) => definition.arn === functionArn);
    if (target === undefined) throw new GatewayProblem('API_CONFIGURATION_ERROR');
    return target.invoke(event);
  };
  const authorize = createAuthorizers(api, place, invoke);

  return { handle, handleUnreadable };

  async function handle(request: IncomingMessage, response: ServerResponse) {
    const requestId = randomUUID();
    const extendedRequestId = randomBytes(11).toString('base64');
    const target = parseTarget(request.url ?? '/');
    const method = request.method ?? 'GET';
    const match = findResource(api.resources, target.path);
    const gatewayRequest: GatewayRequest = {
      requestId,
      extendedRequestId,
      method,
      path: target.path,
      query: target.query,
      rawHeaders: request.rawHeaders,
      headers: request.headers,
      sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
      time: Date.now(),
      resource: match?.resource,
      pathParameters: match?.parameters ?? {},
    };
    const context = templateContext(api, gatewayRequest);
    let answer: Answer;
    try {
      answer = await respond(request, gatewayRequest, match?.resource, context);
    } catch (error) {
      // The client went away in the middle of its request: nobody waits for an answer.
      if (request.errored !== null) return;
      if (error instanceof GatewayProblem) answer = gatewayAnswer(api, error, context);
      else {
        console.error(error);
        answer = gatewayAnswer(api, new GatewayProblem('DEFAULT_5XX'), context);
      }
    }
    if (response.destroyed) return;
    const encoded = await compress(
      answer,
      String(request.headers['accept-encoding'] ?? ''),
      api.minimumCompressionSize,
    );
    for (const [name, value] of encoded.headers) response.appendHeader(name, value);
    response.setHeader('x-amzn-RequestId', requestId);
    response.setHeader('x-amz-apigw-id', extendedRequestId);
    const bodyless = encoded.status === 204 || encoded.status === 304;
    if (!bodyless) response.setHeader('Content-Length', encoded.body.length);
    response.writeHead(encoded.status).end(bodyless || method === 'HEAD' ? undefined : encoded.body);
  }

  async function respond(
    request: IncomingMessage,
    gatewayRequest: GatewayRequest,
    resource: ResourceDefinition | undefined,
    context: TemplateContext,
  ): Promise<Answer> {
    const content = await readBody(request, bodyLimit);
    const methods = resource?.methods ?? {};
    const definition: MethodDefinition | undefined = Object.hasOwn(methods, gatewayRequest.method)
      ? methods[gatewayRequest.method]
      : methods.ANY;
    if (headSize(request) > headLimit) throw new GatewayProblem('DEFAULT_4XX', 431, 'Request Header Fields Too Large');
    if (definition === undefined) throw new GatewayProblem('MISSING_AUTHENTICATION_TOKEN');
    if (content === undefined) throw new GatewayProblem('REQUEST_TOO_LARGE');
    const authorizer =
      definition.authorizerId === undefined ? undefined : await authorize(definition.authorizerId, gatewayRequest);
    const body = await decompress(content, request.headers['content-encoding'], bodyLimit);
    if (definition.integration.type === 'MOCK') return mockAnswer(definition.integration, context);
    return callFunction(definition.integration, gatewayRequest, authorizer, body);
  }

  async function callFunction(
    integration: MethodDefinition['integration'] & { type: 'AWS_PROXY' },
    request: GatewayRequest,
    authorizer: AuthorizerContext | undefined,
    body: Buffer,
  ): Promise<Answer> {
    const event = proxyEvent(api, place, request, authorizer, body);
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => timeout.reject(new GatewayProblem('INTEGRATION_TIMEOUT')),
      integration.timeoutMilliseconds,
    );
    try {
      const result = await Promise.race([invoke(integration.functionArn, event), timeout.promise]);
      return proxyResponse(result);
    } catch (error) {
      if (!(error instanceof FunctionError)) throw error;
      if (error.errorType === 'RequestTooLargeException') throw new GatewayProblem('REQUEST_TOO_LARGE');
      throw new GatewayProblem('DEFAULT_5XX', 502);
    } finally {
      clearTimeout(timer);
    }
  }

  function handleUnreadable(error: NodeJS.ErrnoException, socket: Socket) {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
    const answer = gatewayAnswer(api, new GatewayProblem('DEFAULT_4XX', status), {
      requestId: randomUUID(),
      stage: api.stage,
    });
    const headers = [...answer.headers, ['Content-Length', String(answer.body.length)], ['Connection', 'close']];
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.write(`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n${lines}\r\n`);
    socket.end(answer.body);
  }
}

/** The path's resource: literal segments come before parameters, those before `{rest+}`. A trailing slash is ignored. */
export function findResource(
  resources: readonly ResourceDefinition[],
  path: string,
): { resource: ResourceDefinition; parameters: Record<string, string> } | undefined {
  const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  const given = trimmed === '/' ? [] : trimmed.slice(1).split('/');
  const matches = resources.filter(
    ({ segments, methods }) =>
      Object.keys(methods).length > 0 &&
      (segments.at(-1)?.endsWith('+}') ? given.length >= segments.length : given.length === segments.length) &&
      segments.every((segment, index) =>
        segment.startsWith('{') ? given[index] !== '' : segment === decodeComponent(given[index]!),
      ),
  );
  const rank = ({ segments }: ResourceDefinition) =>
    segments.map((segment) => (segment.endsWith('+}') ? '2' : segment.startsWith('{') ? '1' : '0')).join('');
  const [resource] = matches.sort((left, right) => (rank(left) < rank(right) ? -1 : 1));
  if (resource === undefined) return undefined;
  const parameters = resource.segments.flatMap((segment, index) => {
    const name = /^\{(.+?)\+?\}$/.exec(segment)?.[1];
    if (name === undefined) return [];
    const value = segment.endsWith('+}') ? given.slice(index).join('/') : given[index]!;
    return [[name, decodeComponent(value)] as const];
  });
  return { resource, parameters: Object.fromEntries(parameters) };
}

function mockAnswer(
  { statusCode, responses }: MethodDefinition['integration'] & { type: 'MOCK' },
  context: TemplateContext,
): Answer {
  const response =
    responses.find(({ selects }) => selects?.test(String(statusCode))) ??
    responses.find(({ selects }) => selects === undefined);
  if (response === undefined) throw new GatewayProblem('API_CONFIGURATION_ERROR');
  const headers = Object.entries(response.headers);
  if (!headers.some(([name]) => name.toLowerCase() === 'content-type'))
    headers.push(['Content-Type', 'application/json']);
  return { status: response.statusCode, headers, body: Buffer.from(renderTemplate(response.template, context)) };
}

/** Request line and header values. */
function headSize({ url = '', method = '', rawHeaders }: IncomingMessage): number {
  const values = rawHeaders.filter((_, index) => index % 2 === 1);
  return values.reduce((size, value) => size + value.length, method.length + url.length);
}

/** The `$context` variables that are known before anything is called. */
function templateContext(api: ApiDefinition, request: GatewayRequest): TemplateContext {
  return {
    apiId: api.id,
    extendedRequestId: request.extendedRequestId,
    httpMethod: request.method,
    'identity.sourceIp': request.sourceIp,
    'identity.userAgent': request.headers['user-agent'] ?? '',
    path: request.path,
    protocol: 'HTTP/1.1',
    requestId: request.requestId,
    requestTimeEpoch: String(request.time),
    resourcePath: request.resource?.path ?? '',
    stage: api.stage,
  };
}
