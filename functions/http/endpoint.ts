/**
 * The way of a request through a function: authorize, read the input, answer; one line in the log.
 */

import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import {
  Forbidden,
  type InputFault,
  InsufficientScope,
  InvalidInput,
  ServiceError,
  TimedOut,
  TokenExpired,
} from '../errors.ts';
import { anyDevice, isDeviceScope, mayActFor, scopeFor } from '../identity/device-scope.ts';
import { isOperator, operatorScope } from '../identity/operator-scope.ts';
import type { Route } from '../routes.ts';
import { withinRequest } from '../runtime/request-lifetime.ts';
import { addToRequestLog, describeError, withRequestLog, writeRequestLog } from '../runtime/request-log.ts';
import { deprecation } from './deprecation.ts';
import { errorReply } from './error-reply.ts';
import { readInput } from './input.ts';
import type { Input, Operation } from './operation.ts';
import { fitsLambdaResponse, type HttpReply, proxyResult, type Reply, successReply } from './reply.ts';

export type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/**
 * What an endpoint is given: the caller, and whether they are an operator (unless its route is
 * public), the input, and the event itself.
 */
export type EndpointRequest<Served extends Route, Described extends Operation> = Input<Described> &
  (Served extends { readonly public: true } ? unknown : Pick<Caller, 'userId' | 'isOperator'>) & {
    readonly event: APIGatewayProxyEvent;
  };

/**
 * The function of a route. It refuses whom the operation does not allow (401, 403) and input that
 * breaks the operation's schemas (422), then answers with the operation's success status. Devices
 * and users have operations of their own, and each refuses the tokens of the others. Those of
 * operators refuse both. `answerFaults` may answer input that breaks the schemas with success.
 */
export function endpoint<Served extends Route, Described extends Operation>(
  route: Served,
  operation: Described,
  answer: (request: EndpointRequest<Served, Described>) => Promise<Reply> | Reply,
  answerFaults?: (
    caller: Caller,
    faults: readonly InputFault[],
    event: APIGatewayProxyEvent,
  ) => Promise<Reply | undefined>,
): Handler {
  const deprecationHeaders = deprecation(operation.query);
  return httpFunction(async (event) => {
    if (event.resource !== route.path) throw new Error(`This function serves ${route.path}, not ${event.resource}.`);
    const caller = route.public ? undefined : authorizedCaller(event, operation);
    let input: Input<Described>;
    try {
      input = readInput(operation, event);
    } catch (error) {
      if (!(error instanceof InvalidInput) || caller === undefined) throw error;
      const reply = await answerFaults?.(caller, error.faults, event);
      if (reply === undefined) throw error;
      return successReply(operation.success.status, reply);
    }
    if (caller !== undefined) requireDevice(caller, operation, input);
    const { scopes, ...who } = caller ?? {};
    const request = { ...who, ...input, event };
    const reply = await answer(request as EndpointRequest<Served, Described>);
    return successReply(operation.success.status, {
      ...reply,
      headers: { ...deprecationHeaders(event), ...reply.headers },
    });
  });
}

interface Caller {
  readonly userId: string;
  readonly isOperator: boolean;
  readonly scopes: readonly string[];
}

/**
 * The caller, whom the authorizer named. Throws TokenExpired, InsufficientScope when the token
 * lacks the scope, and Forbidden when a device asks for what is a user's.
 */
function authorizedCaller({ requestContext }: APIGatewayProxyEvent, operation: Operation): Caller {
  const { device, operator } = operation;
  const { principalId, exp, scope: list } = requestContext.authorizer ?? {};
  if (typeof principalId !== 'string' || principalId === '') throw new Error('The authorizer did not say who calls.');
  addToRequestLog({ user_id: principalId });
  // The gateway may have kept the authorizer's answer for longer than the token is valid.
  if (!(Number(exp) * 1000 > Date.now())) throw new TokenExpired('A valid bearer token is required.');
  const scopes = String(list ?? '').split(' ');
  const caller = { userId: principalId, isOperator: isOperator(scopes), scopes };
  if (operator === true && !caller.isOperator) throw new InsufficientScope(operatorScope);
  if (operation.scope !== undefined && !scopes.includes(operation.scope)) throw new InsufficientScope(operation.scope);
  const isDevice = scopes.some(isDeviceScope);
  if (device !== undefined && !isDevice) throw new InsufficientScope(anyDevice);
  if (device === undefined && isDevice) throw new Forbidden('device_token', 'Device tokens cannot use this endpoint.');
  return caller;
}

/** Throws InsufficientScope where the request is about a device that the caller may not act for. */
function requireDevice({ scopes }: Caller, { device }: Operation, input: object) {
  if (device === undefined) return;
  const deviceType = (device as (input: object) => string)(input);
  addToRequestLog({ device_type: deviceType });
  if (!mayActFor(deviceType, scopes)) throw new InsufficientScope(scopeFor(deviceType));
}

/** Left of the function's time when a request is given up, for answering 504. */
const timeToAnswer = 500;

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
      const start = performance.now();
      const reply = await withinRequest(
        () => chain(event, context),
        () => context.getRemainingTimeInMillis() - timeToAnswer,
      );
      addToRequestLog({ status: reply.status, Latency: Math.round((performance.now() - start) * 10) / 10 });
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
