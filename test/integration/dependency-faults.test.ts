import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ErrorBody } from '../../functions/schemas/error-body.ts';
import { deep, oneOrAll } from '../support/depth.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { loadHandlers } from '../support/handlers.ts';
import { useOwnTimeouts } from '../support/own-time.ts';
import { routeCases, routesWithToken } from '../support/route-cases.ts';
import { seed } from '../support/seed.ts';

/** A server in DynamoDB's place that answers every call as the test says. */
let behaviour: RequestListener = () => undefined;
const server = createServer((request, response) => behaviour(request, response));
// It closes no idle connection: one that closes just as it is used again looks like another fault.
server.keepAliveTimeout = 0;
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

await functionEnvironment();
vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);

const id = '5d6a3f0e-6f2b-4c0e-9a51-6d3c6f6f1f2a';
const row = {
  id,
  project_id: id,
  user_id: 'user',
  device_type: 'FRESNEL',
  tags: [] as string[],
  status: 'PENDING' as const,
  jobs_count: 0,
};
const patient = await loadHandlers(routesWithToken);
vi.resetModules();
useOwnTimeouts();
const impatient = await loadHandlers(routesWithToken);
/** Every way of every route. */
const everyWay = routesWithToken.map((route) =>
  Object.entries(routeCases[route].ways({ batches: [row, row], jobs: [row] })).map(([name, request]) => ({
    name,
    route,
    event: () => gatewayEvent(route, { userId: 'user', ...request }),
  })),
);
let requests: (typeof everyWay)[number] = [];
let faults = 0;
/**
 * Each fault meets every second route, by another way each time, and each route every second fault:
 * the others with the next seed. In a deep run: all.
 */
beforeEach(() => {
  const at = faults++;
  requests = everyWay
    .filter((_, route) => deep || (seed + at + route) % 2 === 0)
    .flatMap((ways, route) => oneOrAll(ways, at + route));
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** What these endpoints answer. */
const answers = (handlers: typeof patient, milliseconds?: number) =>
  Promise.all(
    requests.map(async ({ name, route, event }) => {
      const { statusCode, headers, body } = await handlers[route](event(), lambdaContext(milliseconds));
      const { code } = ErrorBody().parse(JSON.parse(body));
      expect(code).toBe(String(statusCode));
      return { name, statusCode, retryAfter: headers?.['Retry-After'] };
    }),
  );

const everyone = (statusCode: number, retryAfter?: string) =>
  requests.map(({ name }) => ({ name, statusCode, retryAfter }));

const awsError =
  (status: number, name: string): RequestListener =>
  (_, response) => {
    response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'from DynamoDB' }));
  };

describe('every endpoint', () => {
  it('answers 504 when DynamoDB is silent', async () => {
    behaviour = () => undefined;
    expect(await answers(impatient)).toEqual(everyone(504));
  });

  it('answers 504 when the time of its function ends, whatever it still waits for', async () => {
    behaviour = () => undefined;
    expect(await answers(patient, 1_000)).toEqual(everyone(504));
  });

  it('answers 504 when DynamoDB breaks every connection', async () => {
    behaviour = (_, response) => response.destroy();
    expect(await answers(patient)).toEqual(everyone(504));
  });

  it('answers 504 when DynamoDB stops in the middle of an answer', async () => {
    behaviour = (_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.0', 'Content-Length': '1000' });
      response.write('{"Item":{');
    };
    expect(await answers(impatient)).toEqual(everyone(504));
  });

  it('answers 429 when DynamoDB throttles', async () => {
    behaviour = awsError(400, 'ThrottlingException');
    expect(await answers(patient)).toEqual(everyone(429, '1'));
    behaviour = awsError(400, 'ProvisionedThroughputExceededException');
    expect(await answers(patient)).toEqual(everyone(429, '1'));
  });

  it.each<[string, RequestListener]>([
    ['fails', awsError(500, 'InternalServerError')],
    ['denies access', awsError(400, 'AccessDeniedException')],
    ['does not know the table', awsError(400, 'ResourceNotFoundException')],
    ['answers nonsense', (_, response) => response.writeHead(200).end('<html>')],
  ])('answers 500 when DynamoDB %s', async (_, does) => {
    behaviour = does;
    expect(await answers(patient)).toEqual(everyone(500));
  });
});
