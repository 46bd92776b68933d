/**
 * Devices, users and operators have paths of their own. The paths of one kind refuse the tokens of
 * the others before anything is read. Operators are users, too.
 */

import * as fc from 'fast-check';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { RouteWithToken } from '../../functions/routes.ts';
import { loadOperation } from '../../infra/openapi/load-operation.ts';
import { expectDocumented } from '../support/documented-answers.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { loadHandlers } from '../support/handlers.ts';
import { startPassingServer } from '../support/passing-server.ts';
import { routeCases, routesWithToken } from '../support/route-cases.ts';

await functionEnvironment();
let calls = 0;
const recorder = await startPassingServer(dynamodbEndpoint, async (_, pass, answer) => {
  calls++;
  answer(await pass());
});
vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', recorder.url);
afterAll(() => recorder.stop());
const handlers = await loadHandlers(routesWithToken);

const id = '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a';
const batch = {
  id,
  project_id: id,
  user_id: 'user',
  device_type: 'FRESNEL',
  tags: ['a'],
  status: 'PENDING' as const,
  jobs_count: 0,
};
const ofDevices = new Set<RouteWithToken>();
const ofOperators = new Set<RouteWithToken>();
/** They show what belongs to no user. Written by hand: another one must be meant. */
const ofEveryToken: readonly RouteWithToken[] = ['listCalibrations', 'getCalibration', 'listMinutes'];
for (const route of routesWithToken) {
  const { device, operator } = await loadOperation(route);
  if (device !== undefined) ofDevices.add(route);
  if (operator === true) ofOperators.add(route);
}
const own = { batches: [batch, batch], jobs: [batch] };
const ways = routesWithToken.flatMap((route) => {
  const named = Object.entries(routeCases[route].ways(own));
  // Where nothing succeeds at any time, any request does.
  const requests = named.length > 0 ? named : [['any', fc.sample(routeCases[route].anything(own), 1)[0]!] as const];
  return requests.map(([name, request]) => ({ name, route, request }));
});

async function expectRefusal({ route, request }: (typeof ways)[number], scope: string): Promise<string | undefined> {
  calls = 0;
  const event = gatewayEvent(route, { ...request, userId: 'device-1', scope });
  const answer = await handlers[route](event, lambdaContext());
  expect(answer.statusCode, scope).toBe(403);
  expectDocumented(route, answer);
  expect(calls).toBe(0);
  return answer.headers?.['WWW-Authenticate'] as string | undefined;
}

describe('the token of a device', () => {
  const ofUsers = ways.filter(({ route }) => !ofDevices.has(route) && !ofEveryToken.includes(route));
  it.each(ofUsers)('is refused by $route: $name', async (way) => {
    for (const scope of ['device:FRESNEL', 'device:*', 'openid device:EMU_MPS profile'])
      await expectRefusal(way, scope);
  });
});

describe('a token without the scope of the device', () => {
  it.each(ways.filter(({ route }) => ofDevices.has(route)))('is refused by $route: $name', async (way) => {
    for (const scope of ['', 'openid profile email', 'device', 'device:', 'device:OTHER', 'device:FRESNEL_CAN1']) {
      expect(await expectRefusal(way, scope)).toMatch(/^Bearer error="insufficient_scope", scope="device:/);
    }
  });
});

describe('a token that is no operator’s', () => {
  const scopes = ['', 'openid profile email', 'operators', 'operator:x', 'device:*', 'operator device:FRESNEL'];
  it.each(scopes)('is refused by every path of operators: %j', async (scope) => {
    for (const way of ways.filter(({ route }) => ofOperators.has(route))) {
      expect(await expectRefusal(way, scope), way.route).toBe('Bearer error="insufficient_scope", scope="operator"');
    }
  });
});
