/** The way of a request through a function: it is answered, the answer or whatever was thrown becomes the response, one line is logged. */

import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { InvalidInput, TimedOut } from '../errors.ts';
import { addToRequestLog, describeError, withRequestLog, writeRequestLog } from '../request-log.ts';
import { errorReply, serviceError } from './error-reply.ts';
import { fitsLambdaResponse, proxyResult } from './proxy-result.ts';
import type { Reply } from './reply.ts';

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
    const error = serviceError(request.error);
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
