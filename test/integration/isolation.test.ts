/**
 * No request of one user shows what another has, or that they have anything; on the paths of users,
 * no request of an operator does, but for usage.
 */

import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { changeLimits } from '../../functions/data/limits/limits-of-subjects.ts';
import { usageKey } from '../../functions/data/limits/usage-sums.ts';
import { type RouteWithToken, routes } from '../../functions/routes.ts';
import { BatchListQuery, batchOrderings } from '../../functions/schemas/batch-list-query.ts';
import { JobListQuery, jobOrderings } from '../../functions/schemas/job-list-query.ts';
import { oneOrAll, share } from '../support/depth.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { loadHandlers } from '../support/handlers.ts';
import { listOf } from '../support/list-oracle.ts';
import { startPassingServer } from '../support/passing-server.ts';
import { startResultsStore } from '../support/results-store.ts';
import { routeCases, routesWithToken, type UserRequest } from '../support/route-cases.ts';
import { testDb } from '../support/test-db.ts';
import { storeWorld, world } from '../support/world.ts';

const owner = 'auth0|alice';
const intruder = 'auth0|mallory';
/** Who might be taken for the owner. */
const lookalikes = [
  'auth0|alic',
  'auth0|alice2',
  'auth0|alice ',
  'Auth0|Alice',
  'auth0%7Calice',
  '../auth0|alice',
  'auth0|alice/',
];

const { client, names } = await functionEnvironment();

/** The requests to DynamoDB since `asked` was emptied. */
const asked: { operation: string; body: string }[] = [];
const recorder = await startPassingServer(dynamodbEndpoint, async ({ headers, body }, pass, answer) => {
  asked.push({ operation: String(headers['x-amz-target']), body: body.toString() });
  answer(await pass());
});
vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', recorder.url);
const results = await startResultsStore();
afterAll(async () => {
  await recorder.stop();
  await results.stop();
});

const handlers = await loadHandlers(routesWithToken);

const theirs = world(owner, { batches: 12, jobs: 20, seed: 1, mark: 'alice' });
const own = world(intruder, { batches: 12, jobs: 20, seed: 2, mark: 'mallory' });
/** Everything that would give the owner away. */
const secrets = [
  owner,
  'alice',
  ...theirs.batches.flatMap(({ id, project_id }) => [id, project_id]),
  ...theirs.jobs.map(({ id }) => id),
];

beforeAll(async () => {
  for (const each of [theirs, own]) await storeWorld({ client, names, results }, each);
});

/** The whole answer, but for the name of the request, and what it took. */
async function ask(route: RouteWithToken, request: UserRequest, userId = intruder) {
  asked.length = 0;
  results.requests.length = 0;
  const { statusCode, headers, body } = await handlers[route](
    gatewayEvent(route, { ...request, userId }),
    lambdaContext(),
  );
  const { 'X-Request-Id': _, ...others } = headers as Record<string, string>;
  const operations = [...asked.map(({ operation }) => operation), ...results.requests].sort();
  return { statusCode, headers: others, body, operations };
}

/**
 * The answer shows nothing of the owner except what the request itself contains. Nothing of the
 * owner's was asked for.
 */
function expectNothingOf({ body, headers }: Awaited<ReturnType<typeof ask>>, request: UserRequest = {}) {
  const text = body + JSON.stringify(headers);
  const sent = JSON.stringify(request.body ?? '');
  for (const secret of secrets) if (!sent.includes(secret)) expect(text).not.toContain(secret);
  for (const { body: sent } of asked) expect(sent).not.toContain(JSON.stringify(owner));
  for (const request of results.requests) expect(request).not.toContain(owner);
}

const unknownId = '00000000-0000-4000-8000-00000000abcd';

/** Every place of every route's requests that can name what another user has. */
const places = routesWithToken.flatMap((route) =>
  Object.entries(routeCases[route].foreign(theirs)).map(([place, [foreign, nobodys]]) => ({
    route,
    place,
    foreign,
    nobodys,
  })),
);

it('names a batch or a job of another user wherever the path of a user’s route has one', () => {
  const isOfUsers = (path: string) => !path.includes('{user_id}') && !path.includes('{lease}');
  const named = routesWithToken.filter(
    (route) => /\{(batch|job)_id\}/.test(routes[route].path) && isOfUsers(routes[route].path),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((route) => !places.some((place) => place.route === route))).toEqual([]);
});

/** An answer without the time of its write. */
const withoutTimes = ({ body, ...rest }: Awaited<ReturnType<typeof ask>>) => ({
  ...rest,
  body: body.replace(/"(created_at|updated_at)":"[^"]+"/g, ''),
});

describe.each(places)('$route with $place of another user', ({ route, foreign, nobodys }) => {
  it('answers byte for byte as for what nobody has, and makes the same calls', async () => {
    const answer = await ask(route, foreign);
    expectNothingOf(answer, foreign);
    expect(withoutTimes(answer)).toEqual(withoutTimes(await ask(route, nobodys)));
    if (routeCases[route].showsOperatorsMore) return;
    const asOperator = await ask(route, { ...foreign, scope: 'operator' });
    expectNothingOf(asOperator, foreign);
    expect(withoutTimes(asOperator)).toEqual(withoutTimes(answer));
  });
});

/** The filters of the lists. */
const cells = places.flatMap(({ route, place: filter, foreign, nobodys }) => {
  if (route !== 'listBatches' && route !== 'listJobs') return [];
  const value = ({ query }: UserRequest) => (query as Record<string, string>)[filter]!;
  return [{ route, filter, of: value(foreign), unknown: value(nobodys) }];
});
const directions = ['ASC', 'DESC'] as const;

const lists = [
  { route: 'listBatches', schema: BatchListQuery, orderings: batchOrderings, rows: own.batches },
  { route: 'listJobs', schema: JobListQuery, orderings: jobOrderings, rows: own.jobs },
] as const;
const listOfRoute = (route: string) => lists.find((list) => list.route === route)!;

describe.each(cells)('$route by $filter', ({ route, filter, of, unknown }) => {
  const { orderings } = listOfRoute(route);

  it('answers for what another user has byte for byte as for what nobody has, at the same cost, in every order', async () => {
    expect(JSON.parse((await ask(route, { query: { [filter]: of } }, owner)).body).pagination.total).toBeGreaterThan(0);
    const at = cells.findIndex((cell) => cell.route === route && cell.filter === filter);
    for (const order_by of share<string>(orderings, 3, at)) {
      for (const order_by_direction of oneOrAll(directions, orderings.indexOf(order_by as never))) {
        const order = { order_by, order_by_direction };
        const answer = await ask(route, { query: { ...order, [filter]: of } });
        expectNothingOf(answer);
        expect(answer).toEqual(await ask(route, { query: { ...order, [filter]: unknown } }));
        expect(JSON.parse(answer.body)).toMatchObject({ data: [], pagination: { total: 0, start: 0, end: 0 } });
      }
    }
  });

  it('adds nothing of another user to what is the caller’s own', async () => {
    if (filter === 'id__starts_with' || filter === 'tag') return;
    const [mine] = listOfRoute(route).rows;
    const value = filter === 'user_id' ? intruder : String(mine![filter as keyof typeof mine]);
    const amid = (other: string) => ask(route, { query: { [filter]: [other, value, other], limit: '100' } });
    const both = await amid(of);
    expectNothingOf(both);
    expect(both).toEqual(await amid(unknown));
    expect(JSON.parse(both.body).pagination.total).toBeGreaterThan(0);
  });

  it('reports the faults of a request that names it as of any other', async () => {
    const faulty = (value: string) => ask(route, { query: { [filter]: value, limit: '0', status: 'x' } });
    const answer = await faulty(of);
    expect(answer.statusCode).toBe(422);
    expectNothingOf(answer);
    expect(answer).toEqual(await faulty(unknown));
  });
});

describe.each(lists)('$route', ({ route, schema, orderings, rows }) => {
  it('shows the caller’s own rows and their number, in every order, whoever else there is', async () => {
    for (const [at, order_by] of orderings.entries()) {
      for (const order_by_direction of oneOrAll(directions, at)) {
        const answer = await ask(route, { query: { order_by, order_by_direction, limit: '5', offset: '3' } });
        expectNothingOf(answer);
        const { data, pagination } = JSON.parse(answer.body);
        const query = schema.parse({
          order_by: [order_by],
          order_by_direction: [order_by_direction],
          limit: ['5'],
          offset: ['3'],
        });
        expect({ ids: data.map(({ id }: { id: string }) => id), total: pagination.total }).toEqual(
          listOf(rows, query as never),
        );
        expect(answer.headers['Content-Range']).toBe(`4-8/${rows.length}`);
      }
    }
  });

  it.each([
    'status=DONE',
    'status=PENDING&status=RUNNING',
    'min_jobs=0',
    'min_runs=0',
    'start_date=1970-01-01',
    'end_date=9999-01-01',
    'created_after=1970-01-01',
    'created_before=9999-01-01',
    'errors=true',
    'has_errors=false',
    'open=true',
    'queue_priority=LOW&queue_priority=HIGH',
    'origin=CLIENT',
    `id__starts_with=`,
  ])('never mixes in another user’s: %s', async (query) => {
    const answer = await ask(route, { query });
    expectNothingOf(answer);
    const { data, pagination } = JSON.parse(answer.body);
    expect(new Set(data.map(({ user_id }: { user_id: string }) => user_id)).size).toBeLessThanOrEqual(1);
    expect(pagination.total).toBe(data.length);
    expect(pagination.total).toBeLessThanOrEqual(rows.length);
  });

  it.each(lookalikes)('shows nothing to a user of a similar name: %j', async (userId) => {
    const answer = await ask(route, {}, userId);
    expect(JSON.parse(answer.body)).toMatchObject({ data: [], pagination: { total: 0 } });
    expectNothingOf(answer);
  });
});

describe('getResultsLink', () => {
  const [job] = theirs.jobs.map(({ id }) => id) as [string];
  const forms: [string, (id: string) => string][] = [
    ['as it is', (id) => id],
    ['in upper case', (id) => id.toUpperCase()],
    ['without hyphens', (id) => id.replaceAll('-', '')],
    ['in braces', (id) => `{${id}}`],
    ['as a URN', (id) => `urn:uuid:${id}`],
    ['escaped', (id) => encodeURIComponent(`{${id}}`)],
  ];

  it.each(forms)('links the owner alone, by an id %s', async (_, form) => {
    const path = { job_id: form(job) };
    expect(JSON.parse((await ask('getResultsLink', { path }, owner)).body).data.results_link).toContain(job);
    for (const userId of [intruder, ...lookalikes]) {
      const answer = await ask('getResultsLink', { path }, userId);
      expect(answer.statusCode).toBe(404);
      expectNothingOf(answer);
      expect(answer).toEqual(await ask('getResultsLink', { path: { job_id: form(unknownId) } }, userId));
    }
  });

  it('answers for the id of a batch, their own or another’s, as for an unknown job', async () => {
    const unknown = await ask('getResultsLink', { path: { job_id: unknownId } });
    for (const { id } of [own.batches[0]!, theirs.batches[0]!]) {
      expect(await ask('getResultsLink', { path: { job_id: id } })).toEqual(unknown);
    }
  });

  it('ignores parameters of the query that name a user', async () => {
    const query = { user_id: owner, principalId: owner, job_id: job };
    const answer = await ask('getResultsLink', { path: { job_id: job }, query });
    expect(answer).toEqual(await ask('getResultsLink', { path: { job_id: unknownId }, query }));
  });
});

describe('getFullResults', () => {
  it('reads the results of the owner alone', async () => {
    const path = { batch_id: theirs.jobs[0]!.batch_id };
    const { body } = await ask('getFullResults', { path }, owner);
    const idsOf = theirs.jobs.filter(({ batch_id }) => batch_id === path.batch_id).map(({ id }) => id);
    expect(Object.keys(JSON.parse(body).data)).toEqual(idsOf);
    expect(results.requests).toHaveLength(idsOf.length);
    const answer = await ask('getFullResults', { path });
    expect(answer.statusCode).toBe(404);
    expectNothingOf(answer);
    expect(results.requests).toEqual([]);
  });

  it('finds no results of another user’s job in a batch of the caller', async () => {
    const path = { batch_id: own.jobs[0]!.batch_id };
    const of = (job_id: string) => ask('getFullResults', { path, query: { job_id } });
    const answer = await of(theirs.jobs[0]!.id);
    expectNothingOf(answer);
    expect(answer).toEqual(await of(unknownId));
    expect(JSON.parse(answer.body).data).toEqual({});
  });
});

describe('getOwnLimits', () => {
  it('shows each user what they have and use alone', async () => {
    const place = { projectId: unknownId, deviceType: 'FRESNEL', day: new Date().toISOString().slice(0, 10) };
    const users = [owner, intruder, ...lookalikes];
    for (const [at, userId] of users.entries()) {
      const limits = { max_unfinished_jobs: 1_000 + at };
      await changeLimits(testDb(client, names), { operator: 'op', subject: `user:${userId}`, limits });
      const Item = { ...usageKey({ ...place, userId }), device_type: 'FRESNEL', shots: 10 + at };
      await client.send(new PutCommand({ TableName: names.Usage, Item }));
    }
    for (const [at, userId] of users.entries()) {
      for (const query of ['', `user_id=${encodeURIComponent(owner)}&subject=user:alice`]) {
        const answer = await ask('getOwnLimits', { query }, userId);
        const { limits, used } = JSON.parse(answer.body).data;
        expect([limits.max_unfinished_jobs, used.shots_per_month]).toEqual([1_000 + at, 10 + at]);
        expect(used.max_unfinished_batches > 0).toBe(at < 2);
        if (at > 0) expectNothingOf(answer, { body: query + userId });
      }
    }
  });
});
