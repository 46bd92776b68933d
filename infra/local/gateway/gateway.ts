import { randomBytes, randomUUID } from 'node:crypto';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { LambdaFunction } from '../lambda/lambda-function.ts';
import { readBody, splitTarget } from '../service/http-server.ts';
import type { ApiDefinition, MethodDefinition } from '../template/api-definition.ts';
import type { TemplateContext } from '../template/mapping-template.ts';
import type { AccountContext } from '../template/resource-types.ts';
import { createAuthorizers } from './authorizers.ts';
import { type Answer, GatewayProblem, gatewayAnswer, renderResponse } from './gateway-answer.ts';
import type { GatewayRequest } from './gateway-request.ts';
import { answerByFunction, type InvokeFunction } from './integrations.ts';
import { compress, decompress } from './payload-compression.ts';
import { readQuery } from './query.ts';
import { findResource } from './routing.ts';

/**
 * API Gateway's limits: of a request's body, and of its request line and header values together.
 */
const maxBodyBytes = 10 * 1024 * 1024;
const maxHeadBytes = 10_240;

/** The local gateway: answers requests, and connections that do not speak HTTP. */
interface Gateway {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  handleUnreadable(error: NodeJS.ErrnoException, socket: Socket): void;
}

/**
 * Serves an API as a stage of API Gateway does: routing, the token authorizer, proxy and mock
 * integrations, gateway responses, compression and limits. It has no usage plans and no cache, and
 * does not throttle, since one machine's pace is not AWS's.
 */
export function createGateway(
  api: ApiDefinition,
  functions: readonly LambdaFunction[],
  account: AccountContext,
): Gateway {
  const invoke: InvokeFunction = async (functionArn, event, signal) => {
    const target = functions.find(({ definition }) => definition.arn === functionArn);
    if (target === undefined) throw new GatewayProblem('API_CONFIGURATION_ERROR');
    return target.invoke(event, { signal });
  };
  const authorize = createAuthorizers(api, account, invoke);

  return { handle, handleUnreadable: (error, socket) => answerUnreadable(api, error, socket) };

  async function handle(request: IncomingMessage, response: ServerResponse) {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const gatewayRequest = readRequest(api, request, gone.signal);
    const context = templateContext(api, gatewayRequest);
    let answer: Answer;
    try {
      answer = await respond(request, gatewayRequest, context);
    } catch (error) {
      // The client went away, and waits for no answer.
      if (request.errored !== null || gone.signal.aborted) return;
      if (!(error instanceof GatewayProblem)) console.error(error);
      const problem = error instanceof GatewayProblem ? error : new GatewayProblem('DEFAULT_5XX');
      answer = gatewayAnswer(api, problem, context);
    }
    if (response.destroyed) return;
    const accepted = String(request.headers['accept-encoding'] ?? '');
    send(response, await compress(answer, accepted, api.minimumCompressionSize), gatewayRequest);
  }

  async function respond(message: IncomingMessage, request: GatewayRequest, context: TemplateContext): Promise<Answer> {
    const content = await readBody(message, maxBodyBytes);
    if (message.headers.host === undefined || /[|{}]/.test(splitTarget(message.url ?? '/').search)) {
      throw new GatewayProblem('DEFAULT_4XX', 400);
    }
    const method = findMethod(request);
    requireAllowedHead(message, api, method);
    if (method === undefined) throw new GatewayProblem('MISSING_AUTHENTICATION_TOKEN');
    if (content === undefined) throw new GatewayProblem('REQUEST_TOO_LARGE');
    const authorizer = method.authorizerId === undefined ? undefined : await authorize(method.authorizerId, request);
    const body = await decompress(content, message.headers['content-encoding'], {
      limit: maxBodyBytes,
      minimumSize: api.minimumCompressionSize,
    });
    if (method.integration.type === 'MOCK') {
      const [mediaType = ''] = (message.headers['content-type'] ?? 'application/json').split(';');
      // It has a template for this type alone.
      if (mediaType.trim() !== 'application/json') throw new GatewayProblem('UNSUPPORTED_MEDIA_TYPE');
      return renderResponse(method.integration.response, 200, context);
    }
    return answerByFunction(method.integration, { request, authorizer, body }, { api, account, invoke });
  }
}

function readRequest(api: ApiDefinition, request: IncomingMessage, gone: AbortSignal): GatewayRequest {
  const { path: fullPath, search } = splitTarget(request.url ?? '/');
  const { stagePath, path } = splitStage(api, fullPath);
  const match = findResource(api.resources, path);
  return {
    // As on AWS, callers may choose the one and not the other.
    requestId: String(request.headers['x-amzn-requestid'] ?? randomUUID()),
    extendedRequestId: randomBytes(11).toString('base64'),
    method: request.method ?? 'GET',
    stagePath,
    path,
    query: readQuery(search),
    rawHeaders: request.rawHeaders,
    headers: request.headers,
    sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
    time: Date.now(),
    gone,
    resource: match?.resource,
    pathParameters: match?.parameters ?? {},
  };
}

/** An API is below its stage's name, and here also at the root, as behind a custom domain. */
function splitStage({ stage }: ApiDefinition, path: string): Pick<GatewayRequest, 'stagePath' | 'path'> {
  const stagePath = `/${stage}`;
  if (path !== stagePath && !path.startsWith(`${stagePath}/`)) return { stagePath: '', path };
  return { stagePath, path: path.slice(stagePath.length) || '/' };
}

function findMethod({ resource, method }: GatewayRequest): MethodDefinition | undefined {
  const methods = resource?.methods ?? {};
  return Object.hasOwn(methods, method) ? methods[method] : methods.ANY;
}

function send(response: ServerResponse, { status, headers, body }: Answer, request: GatewayRequest) {
  for (const [name, value] of headers) response.appendHeader(name, value);
  response.setHeader('x-amzn-RequestId', request.requestId);
  response.setHeader('x-amz-apigw-id', request.extendedRequestId);
  const hasBody = status !== 204 && status !== 304;
  if (hasBody) response.setHeader('Content-Length', body.length);
  response.writeHead(status).end(hasBody && request.method !== 'HEAD' ? body : undefined);
}

/** Answers a request that Node could not read, and closes the connection. */
function answerUnreadable(api: ApiDefinition, error: NodeJS.ErrnoException, socket: Socket) {
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

/**
 * Throws GatewayProblem when request line and header values together are too long. When the token
 * alone is to blame, the answer is that to any other token that is not valid.
 */
function requireAllowedHead(
  { url = '', method = '', rawHeaders, headers }: IncomingMessage,
  { authorizers }: ApiDefinition,
  definition: MethodDefinition | undefined,
) {
  const values = rawHeaders.filter((_, index) => index % 2 === 1);
  const size = values.reduce((sum, value) => sum + value.length, method.length + url.length);
  if (size <= maxHeadBytes) return;
  const authorizer = authorizers.find(({ id }) => id === definition?.authorizerId);
  const token = authorizer === undefined ? '' : String(headers[authorizer.header] ?? '');
  if (size - token.length <= maxHeadBytes) throw new GatewayProblem('UNAUTHORIZED');
  throw new GatewayProblem('DEFAULT_4XX', 431, 'Request Header Fields Too Large');
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
