/**
 * Every call that an endpoint makes goes wrong, and in every way: on the wire, where a dependency's
 * faults come from.
 */

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Handler } from '../../functions/http/http-function.ts';
import type { RouteWithToken } from '../../functions/routes.ts';
import { ErrorBody } from '../../functions/schemas/error-body.ts';
import { deep, oneOrAll, rotate } from '../support/depth.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import {
  failures,
  finalFailures,
  late,
  type Strike,
  startFaultProxy,
  throttles,
  unanswered,
} from '../support/fault-proxy.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { loadHandlers } from '../support/handlers.ts';
import { itemsOfOwner } from '../support/items-of-owner.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { useNoAnswers } from '../support/own-time.ts';
import { startResultsStore } from '../support/results-store.ts';
import { routeCases, routesWithToken } from '../support/route-cases.ts';
import { seed } from '../support/seed.ts';
import { storeWorld, world } from '../support/world.ts';

const { client, names } = await functionEnvironment();
const proxy = await startFaultProxy(dynamodbEndpoint);
vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', proxy.url);
const results = await startResultsStore();
const sink = await startMessageSink();
afterAll(async () => {
  await sink.stop();
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

const rowsOf = (userId: string) => world(userId, { batches: 20, jobs: 20, seed: 11 });
/**
 * Each way of each route, by a user of its own. Of each route one way, another one with every seed,
 * has all its calls struck, the others one. In a deep run: all.
 */
const cases = routesWithToken
  .filter((route) => !routeCases[route].readsNoUser)
  .flatMap((route) =>
    Object.keys(routeCases[route].ways(rowsOf(''))).map((name, at, { length }) => {
      const userId = `fault-user-of-${name.replaceAll(' ', '-')}`;
      const strikesAll = deep || at === seed % length;
      return { name, route, request: routeCases[route].ways(rowsOf(userId))[name]!, userId, strikesAll };
    }),
  );
type Case = (typeof cases)[number];

beforeAll(async () => {
  for (const { userId } of cases) await storeWorld({ client, names, results }, rowsOf(userId));
});

async function ask(handlers: Handlers, { route, request, userId }: Case) {
  const event = gatewayEvent(route, { ...request, userId });
  const { statusCode, headers, body } = await handlers[route](event, lambdaContext());
  await proxy.quiet(userId);
  return { statusCode, headers, ...comparable(JSON.parse(body)) };
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
  if (asked.statusCode === 200) return void expect(asked.text).toBe(right);
  expect([429, 500, 504]).toContain(asked.statusCode);
  const { status, code } = ErrorBody().parse(asked.answer);
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
type NamedStrike = readonly [name: string, strike: Strike];
const noAnswer: NamedStrike = ['no answer', unanswered];
const everyFault: readonly NamedStrike[] = [
  ...Object.entries({ ...throttles, ...failures, ...finalFailures }),
  noAnswer,
];
const lasting = { times: Number.POSITIVE_INFINITY };

useNoAnswers();
const ofFaults = await endpoints();
const ofLastingFaults = await endpoints();

describe('an endpoint', () => {
  it.concurrent.each(cases)('answers right or refuses, whatever becomes of its calls: $name', async (of) => {
    const { right, calls } = await askUndisturbed(ofFaults, of);
    expect(calls).toBeGreaterThan(0);
    const at = cases.indexOf(of);
    const ends = [...new Set([1, calls])];

    const strikesOf = (places: readonly number[], unanswered: readonly number[], first: number) => [
      ...rotate(places, () => everyFault, first),
      ...unanswered.map((place) => ({ place, fault: noAnswer })),
    ];

    // One call fails once.
    const one = oneOrAll(callNumbers(calls), at);
    for (const { place: from, fault } of strikesOf(of.strikesAll ? callNumbers(calls) : one, one, at)) {
      const [name, strike] = fault;
      proxy.plan(of.userId, { strike, from, times: 1 });
      const asked = await ask(ofFaults, of);
      expectRightOrRefused(asked, right);
      const place = `${name} at call ${from} of ${calls}, seed ${seed}`;
      // Several operations that one call asks for are tried a second time, one by one.
      if (name in finalFailures) expect([200, 500], place).toContain(asked.statusCode);
      else expect(asked.statusCode, place).toBe(200);
      if (fault === noAnswer) expect(proxy.count(of.userId), place).toBeGreaterThan(calls);
    }

    // All calls fail from some call on.
    const silent = of.strikesAll ? oneOrAll(ends, at) : [];
    for (const { place: from, fault } of strikesOf(oneOrAll(ends, at + 1), silent, at)) {
      const [name, strike] = fault;
      proxy.plan(of.userId, { strike, from, ...lasting });
      const asked = await ask(ofLastingFaults, of);
      expectRightOrRefused(asked, right);
      const statuses = name in throttles ? [429] : fault === noAnswer ? [504] : [500, 504];
      expect(statuses, `${name} from call ${from} on, seed ${seed}`).toContain(asked.statusCode);
    }

    // All calls are slow.
    proxy.plan(of.userId, { strike: late(100), from: 1, ...lasting });
    expect(await ask(ofFaults, of)).toMatchObject({ statusCode: 200, text: right });

    // That one was right: so is one that is not slow.
    proxy.plan(of.userId);
    if (deep) expect((await ask(ofFaults, of)).text).toBe(right);
  });
});

describe('quizzes', () => {
  const handlers = ofLastingFaults;
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
      proxy.plan(of.userId, { strike, from, ...lasting });
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
