import { expect } from 'vitest';
import { type Route, type RouteName, routes } from '../../functions/routes.ts';
import { expectDocumented } from './documented-answers.ts';
import { type GatewayRequest, gatewayEvent, lambdaContext } from './gateway-event.ts';
import { loadHandler } from './handlers.ts';

/**
 * What a route answers: the members of its body, but `status` is the number, and the headers, but
 * for the one that differs with every request. Members have any type: openapi.json is their check.
 */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly data: any;
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly detail: any;
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly pagination: any;
}

/**
 * Calls the exported handler of a route with API Gateway's event, and expects an answer that
 * openapi.json describes. A public route has no authorizer, so it gets no caller. The handler is
 * loaded here: set the environment before.
 */
export async function ask(name: RouteName, { userId, ...request }: GatewayRequest = {}): Promise<Answer> {
  const handler = await loadHandler(name);
  const route: Route = routes[name];
  const caller = userId === undefined || route.public ? {} : { userId };
  const event = gatewayEvent(name, { ...request, ...caller });
  const answer = await handler(event, lambdaContext());
  const { 'X-Request-Id': requestId, ...headers } = answer.headers as Record<string, string>;
  expect(requestId).toBe(event.requestContext.requestId);
  return { ...(expectDocumented(name, answer) as Answer), status: answer.statusCode, headers };
}
