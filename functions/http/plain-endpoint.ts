/** The way of a request through a function: authorize, read the input, answer. */

import type { APIGatewayProxyEvent } from 'aws-lambda';
import { Forbidden, type InputFault, InsufficientScope, InvalidInput, TokenExpired } from '../errors.ts';
import { anyDevice, isDeviceScope, mayActFor, scopeFor } from '../identity/device-scope.ts';
import { isOperator, operatorScope } from '../identity/operator-scope.ts';
import type { Route } from '../routes.ts';
import { addToRequestLog } from '../runtime/request-log.ts';
import { administers, Claims } from '../schemas/claims.ts';
import { deprecation } from './deprecation.ts';
import { type Handler, httpFunction } from './http-function.ts';
import { readInput } from './input.ts';
import type { Input, Operation } from './operation.ts';
import { type Reply, successReply } from './reply.ts';
import { unknownParameters } from './unknown-parameters.ts';

/**
 * What an endpoint is given: the caller, whether they are an operator, and what their token allows
 * (unless its route is public), the input, and the event itself.
 */
export type EndpointRequest<Served extends Route, Described extends Operation> = Input<Described> &
  (Served extends { readonly public: true } ? unknown : Omit<Caller, 'scopes'>) & {
    readonly event: APIGatewayProxyEvent;
  };

/**
 * The function of a route. It refuses callers that the operation does not allow (401, 403) and
 * input that breaks the operation's schemas (422), then answers with the operation's success
 * status. `answerFaults` may answer such input with success.
 *
 * Operations of devices refuse the tokens of users, and the other way round. Operations of
 * operators refuse both, but for administrators of the projects that the operation finds.
 *
 * A route that uses tables is an `endpoint`, which also passes its database.
 */
export function plainEndpoint<Served extends Route, Described extends Operation>(
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
  const unknownHeaders = unknownParameters(operation);
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
    if (caller !== undefined) {
      requireDevice(caller, operation, input);
      requireAdministrator(caller, operation, input);
    }
    const { scopes, ...who } = caller ?? {};
    const request = { ...who, ...input, event };
    const reply = await answer(request as EndpointRequest<Served, Described>);
    const headers = { ...deprecationHeaders(event), ...reply.headers };
    return successReply(operation.success.status, { ...reply, headers: withExposed(headers, unknownHeaders(event)) });
  });
}

/** The headers with further ones, which pages of other origins may read. */
function withExposed(headers: Readonly<Record<string, string>>, further: Readonly<Record<string, string>>) {
  const names = Object.keys(further);
  if (names.length === 0) return headers;
  const exposed = [headers['Access-Control-Expose-Headers'] ?? [], names].flat().join(', ');
  return { ...headers, ...further, 'Access-Control-Expose-Headers': exposed };
}

export interface Caller {
  readonly userId: string;
  readonly isOperator: boolean;
  readonly scopes: readonly string[];
  readonly claims: Claims;
}

/**
 * The caller that the authorizer named. Throws TokenExpired; InsufficientScope when the token lacks
 * the scope; Forbidden when a device calls an operation of users.
 */
function authorizedCaller({ requestContext }: APIGatewayProxyEvent, operation: Operation): Caller {
  const { device, everyToken, operator, projects } = operation;
  const { principalId, exp, scope: list, ...claims } = requestContext.authorizer ?? {};
  if (typeof principalId !== 'string' || principalId === '') throw new Error('The authorizer did not say who calls.');
  addToRequestLog({ user_id: principalId });
  // The gateway may have kept the authorizer's answer for longer than the token is valid.
  if (!(Number(exp) * 1000 > Date.now())) throw new TokenExpired('A valid bearer token is required.');
  const scopes = String(list ?? '').split(' ');
  const caller = { userId: principalId, isOperator: isOperator(scopes), scopes, claims: Claims.parse(claims) };
  const mayAdminister =
    projects !== undefined && caller.claims.projects?.some(({ id }) => administers(caller.claims, id));
  if (operator === true && !caller.isOperator && !mayAdminister) throw new InsufficientScope(operatorScope);
  if (operation.scope !== undefined && !scopes.includes(operation.scope)) throw new InsufficientScope(operation.scope);
  const isDevice = scopes.some(isDeviceScope);
  if (device !== undefined && !isDevice) throw new InsufficientScope(anyDevice);
  if (device === undefined && isDevice && everyToken !== true) {
    throw new Forbidden('device_token', 'Device tokens cannot use this endpoint.');
  }
  return caller;
}

/** Throws InsufficientScope where the request is about a device that the caller may not act for. */
function requireDevice({ scopes }: Caller, { device }: Operation, input: object) {
  if (device === undefined) return;
  const deviceType = (device as (input: object) => string)(input);
  addToRequestLog({ device_type: deviceType });
  if (!mayActFor(deviceType, scopes)) throw new InsufficientScope(scopeFor(deviceType));
}

/**
 * Throws InsufficientScope where the caller neither is an operator nor administers every project
 * that the request is about.
 */
function requireAdministrator({ isOperator, claims }: Caller, { projects }: Operation, input: object) {
  if (projects === undefined || isOperator) return;
  const named = (projects as (input: object) => readonly string[])(input);
  const isAdministrator = named.length > 0 && named.every((id) => administers(claims, id));
  if (!isAdministrator) throw new InsufficientScope(operatorScope);
}
