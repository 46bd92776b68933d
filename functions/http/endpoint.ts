import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { InvalidInput, ServiceError, TimedOut, TokenExpired } from '../errors.ts';
import { addToRequestLog, describeError, withRequestLog, writeRequestLog } from '../request-log.ts';
import { deprecation } from './deprecation.ts';
import { errorReply } from './error-reply.ts';
import { type Input, type InputSchemas, readInput } from './input.ts';
import type { Reply } from './reply.ts';
import { fitsLambdaResponse, proxyResult } from './reply.ts';

/** The way of a request through a function: it is answered, the answer or whatever was thrown becomes the response, one line is logged. */

export type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** Left of the function's time when a request is given up, for answering 504. */
const timeToAnswer = 500;

/** A function that anyone may call. */
export function publicEndpoint(answer: (event: APIGatewayProxyEvent) => Promise<Reply> | Reply): Handler {
  const chain = middy<APIGatewayProxyEvent>({
    timeoutEarlyInMillis: timeToAnswer,
    timeoutEarlyResponse: () => {
      throw new TimedOut('The request took too long.');
    },
  })
    .use(response)
    .handler(async (event) => answer(event));
  return (event, context) => {
    const facts = { request_id: event.requestContext.requestId, method: event.httpMethod, route: event.resource };
    return withRequestLog(facts, () => logged(() => chain(event, context)));
  };
}

/** Turns a reply, or what was thrown, into the response. */
const response: MiddlewareObj<APIGatewayProxyEvent> = {
  after(request) {
    const reply = request.response as Reply;
    if (!fitsLambdaResponse(reply.body))
      throw new Error(`Lambda cannot return a body of ${reply.body.length} characters.`);
    request.response = proxyResult(200, reply, request.event.requestContext.requestId);
  },
  onError(request) {
    const error = request.error instanceof ServiceError ? request.error : undefined;
    const status = error?.status ?? 500;
    if (status >= 500 || error?.cause !== undefined) addToRequestLog({ error: describeError(request.error) });
    if (error instanceof InvalidInput) addToRequestLog({ faults: error.faults.length });
    request.response = proxyResult(status, errorReply(status, error), request.event.requestContext.requestId);
  },
};

async function logged(work: () => Promise<APIGatewayProxyResult>): Promise<APIGatewayProxyResult> {
  const start = performance.now();
  const result = await work();
  const status = result.statusCode;
  addToRequestLog({
    status,
    Latency: Math.round((performance.now() - start) * 10) / 10,
    ClientErrors: status >= 400 && status < 500 ? 1 : 0,
    ServerErrors: status >= 500 ? 1 : 0,
    Throttles: status === 429 ? 1 : 0,
  });
  writeRequestLog(status >= 500 ? 'ERROR' : 'INFO');
  return result;
}

/** A function for callers with a token. The endpoint is given who calls and the input, read by its schemas. */
export function endpoint<Schemas extends InputSchemas>(
  schemas: Schemas,
  answer: (request: { userId: string } & Input<Schemas>) => Promise<Reply>,
): Handler {
  const deprecationHeaders = deprecation(schemas.query);
  return publicEndpoint(async (event) => {
    const userId = caller(event);
    addToRequestLog({ user_id: userId });
    const reply = await answer({ userId, ...readInput(schemas, event) });
    return { ...reply, headers: { ...deprecationHeaders(event), ...reply.headers } };
  });
}

/** The caller, whom the authorizer named. Its answer may come from the gateway's cache, so the token's end is checked again. */
function caller({ requestContext }: APIGatewayProxyEvent): string {
  const { principalId, exp } = requestContext.authorizer ?? {};
  if (typeof principalId !== 'string' || principalId === '') throw new Error('The authorizer did not say who calls.');
  if (!(Number(exp) * 1000 > Date.now())) throw new TokenExpired('A valid bearer token is required.');
  return principalId;
}
