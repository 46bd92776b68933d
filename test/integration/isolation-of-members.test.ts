/**
 * A member of two projects sees nothing of a third, also not of fellows in the two, and has in each
 * project the rights of the role there alone.
 */

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RouteWithToken } from '../../functions/routes.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { loadHandlers } from '../support/handlers.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { startPassingServer } from '../support/passing-server.ts';
import { startResultsStore } from '../support/results-store.ts';
import { routeCases, routesWithToken, type UserRequest } from '../support/route-cases.ts';
import { testDb } from '../support/test-db.ts';
import { storeWorld, world } from '../support/world.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const asked: string[] = [];
const recorder = await startPassingServer(dynamodbEndpoint, async ({ headers }, pass, answer) => {
  asked.push(String(headers['x-amz-target']));
  answer(await pass());
});
vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', recorder.url);
const results = await startResultsStore();
const sink = await startMessageSink();
afterAll(() => Promise.all([recorder.stop(), results.stop(), sink.stop()]));
const handlers = await loadHandlers(routesWithToken);

const caller = 'auth0|member of two';
/** Both have rows in all three projects. */
const fellows = ['auth0|alice', 'auth0|bob'];
const [first, second, third] = [1, 2, 3].map((number) => uuid('c', number)) as [string, string, string];
const projects = [
  { id: first, name: 'First', role: 'member' },
  { id: second, name: 'Second', role: 'admin' },
];

/** Rows of a user, by turns in each project. */
function spread(userId: string, mark: string) {
  const { batches, jobs, ...rest } = world(userId, { batches: 12, jobs: 20, seed: mark.length, mark });
  const inTurn = batches.map((row, at) => ({ ...row, project_id: [third, first, second][at % 3]! }));
  const projectOf = new Map(inTurn.map(({ id, project_id }) => [id, project_id]));
  return { ...rest, batches: inTurn, jobs: jobs.map((row) => ({ ...row, project_id: projectOf.get(row.batch_id)! })) };
}
const worlds = fellows.map((userId) => spread(userId, userId.slice(6)));
/** What they have in the third project, and no answer may show. */
const hidden = {
  batches: worlds.flatMap(({ batches }) => batches.filter(({ project_id }) => project_id === third)),
  jobs: worlds.flatMap(({ jobs }) => jobs.filter(({ project_id }) => project_id === third)),
};

beforeAll(async () => {
  for (const each of worlds) await storeWorld({ client, names, results }, each);
});

async function ask(route: RouteWithToken, request: UserRequest) {
  asked.length = 0;
  results.requests.length = 0;
  const event = gatewayEvent(route, { ...request, userId: caller, claims: { projects: JSON.stringify(projects) } });
  const { statusCode, headers, body } = await handlers[route](event, lambdaContext());
  const { 'X-Request-Id': _, ...others } = headers as Record<string, string>;
  return { statusCode, headers: others, body, calls: [...asked, ...results.requests].sort() };
}

const places = routesWithToken.flatMap((route) =>
  Object.entries(routeCases[route].foreign(hidden)).map(([place, [foreign, nobodys]]) => ({
    route,
    place,
    foreign,
    nobodys,
  })),
);

describe.each(places)('$route with $place of a fellow in another project', ({ route, place, foreign, nobodys }) => {
  it('answers byte for byte as for what nobody has, and makes the same calls', async () => {
    expect(hidden.jobs.length).toBeGreaterThan(3);
    const answer = await ask(route, foreign);
    const sent = JSON.stringify(foreign.body ?? '');
    for (const { id } of [...hidden.batches, ...hidden.jobs])
      if (!sent.includes(id)) expect(answer.body).not.toContain(id);
    // A list of a fellow's rows has rows of the two projects.
    if (place === 'user_id') return;
    const withoutTimes = ({ body, ...rest }: typeof answer) => ({
      ...rest,
      body: body.replace(/"(created_at|updated_at)":"[^"]+"/g, ''),
    });
    expect(withoutTimes(answer)).toEqual(withoutTimes(await ask(route, nobodys)));
  });
});

it('has in each project the rights of the role there', async () => {
  const writer = writeApi(testDb(client, names));
  const owner = 'auth0|carol';
  const ofProject = [first, second, third];
  await writer.createBatches(
    owner,
    ofProject.map((project_id, at) => newBatch(at, { project_id, open: true, jobs: [newJob(at)] })),
  );
  const answered = async (route: RouteWithToken) => {
    const statuses: number[] = [];
    for (const at of ofProject.keys()) {
      statuses.push((await ask(route, { path: { batch_id: uuid('b', at) } })).statusCode);
    }
    return statuses;
  };
  expect(await answered('getBatch')).toEqual([200, 200, 404]);
  expect(await answered('eraseBatch')).toEqual([403, 403, 404]);
  expect(await answered('closeBatch')).toEqual([403, 200, 404]);
  expect(await answered('cancelJobs')).toEqual([403, 200, 404]);
  expect(await answered('cancelBatch')).toEqual([403, 200, 404]);
});
