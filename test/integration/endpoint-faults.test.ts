/**
 * Every call that an endpoint makes goes wrong, and in every way: on the wire, where a dependency's
 * faults come from.
 */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Handler } from '../../functions/http/endpoint.ts';
import type { RouteWithToken } from '../../functions/routes.ts';
import { ErrorBody } from '../../functions/schemas/error-body.ts';
import { oneOrAll, rotate } from '../support/depth.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import {
  failures,
  finalFailures,
  late,
  type Strike,
  silence,
  startFaultProxy,
  throttles,
} from '../support/fault-proxy.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { loadHandlers } from '../support/handlers.ts';
import { itemsOfOwner } from '../support/items-of-owner.ts';
import { startResultsStore } from '../support/results-store.ts';
import { routeCases, routesWithToken } from '../support/route-cases.ts';
import { seed } from '../support/seed.ts';
import { storeWorld, world } from '../support/world.ts';

/** The functions' time limit, in milliseconds. */
const timeLimit = 15_000;

const { client, names } = await functionEnvironment();
const proxy = await startFaultProxy(dynamodbEndpoint);
vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', proxy.url);
const results = await startResultsStore();
afterAll(async () => {
  await proxy.stop();
  await results.stop();
});

/**
 * Freshly loaded, so that no earlier failure has used up the attempts that the SDK allows itself.
 */
function endpoints(): Promise<Handlers> {
  vi.resetModules();
  return loadHandlers(routesWithToken);
}

type Handlers = Readonly<Record<RouteWithToken, Handler>>;

const rowsOf = (userId: string) => world(userId, { batches: 60, jobs: 80, seed: 11 });
/** Each way of each route, by a user of its own. */
const cases = routesWithToken
  .filter((route) => !routeCases[route].readsNoUser)
  .flatMap((route) =>
    Object.entries(routeCases[route].ways(rowsOf(''))).map(([name, request]) => ({
      name,
      route,
      request,
      userId: `fault-user-of-${name.replaceAll(' ', '-')}`,
    })),
  );
type Case = (typeof cases)[number];

beforeAll(async () => {
  for (const { userId } of cases) await storeWorld({ client, names, results }, rowsOf(userId));
});

async function ask(handlers: Handlers, { route, request, userId }: Case) {
  const start = performance.now();
  const event = gatewayEvent(route, { ...request, userId });
  const { statusCode, headers, body } = await handlers[route](event, lambdaContext(timeLimit));
  const milliseconds = performance.now() - start;
  await proxy.quiet(userId);
  return { statusCode, headers, milliseconds, ...comparable(JSON.parse(body)) };
}

/**
 * The answer without what no two answers have in common: the time of an update, a signature's time.
 */
function comparable(answer: Record<string, unknown>) {
  const text = JSON.stringify(answer, (name, value) =>
    name === 'updated_at' || name === 'created_at'
      ? undefined
      : name === 'results_link'
        ? String(value).split('?')[0]
        : value,
  );
  return { answer, text };
}

/** The right answer, or an honest failure whose envelope says that another attempt may succeed. */
function expectRightOrRefused(asked: Awaited<ReturnType<typeof ask>>, right: string) {
  expect(asked.milliseconds).toBeLessThan(timeLimit);
  if (asked.statusCode === 200) return void expect(asked.text).toBe(right);
  expect([429, 500, 504]).toContain(asked.statusCode);
  const { status, code } = ErrorBody.parse(asked.answer);
  expect(status).toBe(asked.statusCode === 429 ? 'fail' : 'error');
  expect(code).toBe(String(asked.statusCode));
  if (asked.statusCode === 429) expect(asked.headers).toHaveProperty('Retry-After');
  expect(asked.text).not.toMatch(/injected|Exception|dynamodb|ECONN|JSON/i);
}

/**
 * What is right, and the number of calls that it takes: of a repetition, as all that follow are.
 */
async function askUndisturbed(handlers: Handlers, of: Case) {
  proxy.plan(of.userId);
  await ask(handlers, of);
  proxy.plan(of.userId);
  const { statusCode, text } = await ask(handlers, of);
  expect(statusCode).toBe(200);
  return { right: text, calls: proxy.count(of.userId) };
}

const callNumbers = (calls: number) => Array.from({ length: calls }, (_, at) => at + 1);
const everyFault: [string, Strike][] = Object.entries({ ...throttles, ...failures, ...finalFailures });

describe('an endpoint, one of whose calls fails once', async () => {
  const handlers = await endpoints();

  it.concurrent.each(cases)('answers as if nothing had happened, or refuses: $name', async (of) => {
    const { right, calls } = await askUndisturbed(handlers, of);
    expect(calls).toBeGreaterThan(0);
    for (const { place: from, fault } of rotate(callNumbers(calls), () => everyFault, cases.indexOf(of))) {
      const [name, strike] = fault;
      proxy.plan(of.userId, { strike, from, times: 1 });
      const asked = await ask(handlers, of);
      expectRightOrRefused(asked, right);
      const place = `${name} at call ${from} of ${calls}, seed ${seed}`;
      // Several operations that one call asks for are tried a second time, one by one.
      if (name in finalFailures) expect([200, 500], place).toContain(asked.statusCode);
      else expect(asked.statusCode, place).toBe(200);
    }
    expect((await askUndisturbed(handlers, of)).right).toBe(right);
  });
});

describe('an endpoint, one of whose calls is not answered once', async () => {
  const handlers = await endpoints();

  it.concurrent.each(cases)('asks again: $name', async (of) => {
    const { right, calls } = await askUndisturbed(handlers, of);
    for (const from of oneOrAll(callNumbers(calls), cases.indexOf(of))) {
      proxy.plan(of.userId, { strike: silence, from, times: 1 });
      const asked = await ask(handlers, of);
      expect(asked, `call ${from} of ${calls}, seed ${seed}`).toMatchObject({ statusCode: 200, text: right });
      expect(proxy.count(of.userId)).toBeGreaterThan(calls);
    }
  });
});

describe('an endpoint that gets no answer from some call on', async () => {
  const handlers = await endpoints();

  it.concurrent.each(cases)('answers 504 while there is time: $name', async (of) => {
    const { right, calls } = await askUndisturbed(handlers, of);
    for (const from of oneOrAll([...new Set([1, calls])], cases.indexOf(of))) {
      proxy.plan(of.userId, { strike: silence, from, times: Number.POSITIVE_INFINITY });
      const asked = await ask(handlers, of);
      expect(asked.statusCode).toBe(504);
      expectRightOrRefused(asked, right);
    }
    expect((await askUndisturbed(handlers, of)).right).toBe(right);
  });
});

describe('an endpoint whose calls fail from some call on', async () => {
  const handlers = await endpoints();

  it.concurrent.each(cases)('refuses with the envelope: $name', async (of) => {
    const { right, calls } = await askUndisturbed(handlers, of);
    for (const { place: from, fault } of rotate([...new Set([1, calls])], () => everyFault, cases.indexOf(of))) {
      const [name, strike] = fault;
      proxy.plan(of.userId, { strike, from, times: Number.POSITIVE_INFINITY });
      const asked = await ask(handlers, of);
      expectRightOrRefused(asked, right);
      const statuses = name in throttles ? [429] : [500, 504];
      expect(statuses, `${name} from call ${from} on, seed ${seed}`).toContain(asked.statusCode);
    }
    expect((await askUndisturbed(handlers, of)).right).toBe(right);
  });
});

describe('an endpoint all of whose calls are slow', async () => {
  const handlers = await endpoints();

  // A call may take a second: there is room for a busy machine.
  it.concurrent.each(cases)('is slow and right: $name', async (of) => {
    const { right } = await askUndisturbed(handlers, of);
    proxy.plan(of.userId, { strike: late(300), from: 1, times: Number.POSITIVE_INFINITY });
    const asked = await ask(handlers, of);
    expect(asked).toMatchObject({ statusCode: 200, text: right });
    expect(asked.milliseconds).toBeGreaterThan(300);
  });
});

describe('quizzes', async () => {
  const handlers = await endpoints();
  const quizzes = cases.find(({ route }) => route === 'submitQuizzes')!;

  /** From which call on, and how many may have been stored then. */
  const places = [
    { from: 1, stored: [0, 3] },
    { from: 2, stored: [3] },
  ];

  it.concurrent.each(rotate(everyFault, () => places))(
    'are stored all or none, and once when they are sent again, after $place.0 from call $fault.from on',
    async ({ place: [, strike], fault: { from, stored } }) => {
      const of = { ...quizzes, userId: `fault-user-${randomUUID()}` };
      proxy.plan(of.userId, { strike, from, times: Number.POSITIVE_INFINITY });
      expect((await ask(handlers, of)).statusCode).toBeGreaterThanOrEqual(429);
      expect(stored).toContain((await quizRecords(of.userId)).length);
      proxy.plan(of.userId);
      const { statusCode, answer } = await ask(handlers, of);
      expect(statusCode).toBe(200);
      const ids = (answer.data as { id: string }[]).map(({ id }) => id);
      expect(ids.sort()).toEqual(await quizRecords(of.userId));
    },
  );
});

/** The ids of the records that a user has. */
async function quizRecords(userId: string): Promise<unknown[]> {
  return (await itemsOfOwner(client, names.Quizzes, userId)).map(({ id }) => id);
}
