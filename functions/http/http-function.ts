/** Any function behind the gateway: one answer, and one line in the log. */

import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { InvalidInput, ServiceError, TimedOut } from '../errors.ts';
import { systemClock } from '../runtime/clock.ts';
import { withinRequest } from '../runtime/request-lifetime.ts';
import { addToRequestLog, describeError, withRequestLog, writeRequestLog } from '../runtime/request-log.ts';
import { timeLimits } from '../time-limits.ts';
import { errorReply } from './error-reply.ts';
import { fitsLambdaResponse, type HttpReply, proxyResult } from './reply.ts';

export type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

const timeToAnswer = 1_000 * timeLimits.toAnswer;

/**
 * A function behind the gateway: what `answer` returns or throws becomes the response, and one line
 * is logged.
 */
export function httpFunction(answer: (event: APIGatewayProxyEvent) => Promise<HttpReply> | HttpReply): Handler {
  const chain = middy<APIGatewayProxyEvent, HttpReply>({
    timeoutEarlyInMillis: timeToAnswer,
    timeoutEarlyResponse: () => {
      throw new TimedOut('The request took too long.');
    },
  })
    .use(repliesOfErrors)
    .handler(async (event) => answer(event));
  return (event, context) => {
    const { requestId, extendedRequestId } = event.requestContext;
    const facts = {
      request_id: requestId,
      extended_request_id: extendedRequestId,
      method: event.httpMethod,
      route: event.resource,
    };
    return withRequestLog(facts, async () => {
      const start = systemClock.elapsed();
      const reply = await withinRequest(
        () => chain(event, context),
        () => context.getRemainingTimeInMillis() - timeToAnswer,
      );
      addToRequestLog({ status: reply.status, Latency: Math.round((systemClock.elapsed() - start) * 10) / 10 });
      writeRequestLog(reply.status >= 500 ? 'ERROR' : 'INFO');
      return proxyResult(reply, requestId);
    });
  };
}

/**
 * The one place where what was thrown becomes an answer. A reply that Lambda cannot return is
 * thrown, too.
 */
const repliesOfErrors: MiddlewareObj<APIGatewayProxyEvent, HttpReply> = {
  after({ response }) {
    const { body } = response as HttpReply;
    if (!fitsLambdaResponse(body)) throw new Error(`Lambda cannot return a body of ${body.length} characters.`);
  },
  onError(request) {
    const thrown = request.error;
    const error = thrown instanceof ServiceError ? thrown : undefined;
    if (error === undefined || error.status >= 500 || error.cause !== undefined) {
      addToRequestLog({ error: describeError(thrown) });
    }
    addToRequestLog({ reason: error?.reason ?? 'internal_error' });
    if (error instanceof InvalidInput) addToRequestLog({ faults: error.faults.length });
    request.response = errorReply(error);
  },
};
