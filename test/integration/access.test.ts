/**
 * Every route with a token, asked by every kind of caller about every kind of thing: the real
 * answers, beside the table of what they must be.
 */

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { changeLimits } from '../../functions/data/limits/limits-of-subjects.ts';
import { reportCalibration } from '../../functions/data/rows/calibrations.ts';
import { announceDevice } from '../../functions/data/rows/devices.ts';
import { projectRoleNames } from '../../functions/project-roles.ts';
import type { RouteWithToken } from '../../functions/routes.ts';
import { projectSubject } from '../../functions/schemas/limits.ts';
import {
  accessCases,
  type CallerKind,
  callers,
  projectLimits,
  type Thing,
  type ThingKind,
  things,
  type Verdict,
} from '../support/access-cases.ts';
import { changeItem } from '../support/change-item.ts';
import { expectDocumented } from '../support/documented-answers.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { type GatewayRequest, gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { loadHandlers } from '../support/handlers.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { startPassingServer } from '../support/passing-server.ts';
import { startResultsStore } from '../support/results-store.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const db = testDb(client, names);

/** The calls of DynamoDB since it was emptied. */
const asked: string[] = [];
const recorder = await startPassingServer(dynamodbEndpoint, async ({ headers }, pass, answer) => {
  asked.push(String(headers['x-amz-target']));
  answer(await pass());
});
vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', recorder.url);
const results = await startResultsStore();
const sink = await startMessageSink();
afterAll(async () => {
  await recorder.stop();
  await results.stop();
  await sink.stop();
});

const routes = Object.keys(accessCases) as RouteWithToken[];
const handlers = await loadHandlers(routes);

const [project, otherProject, strangersProject] = [uuid('c', 1), uuid('c', 2), uuid('c', 3)];
const userOf = (caller: CallerKind) => `auth0|${caller}`;
const [fellow, stranger] = ['auth0|fellow', 'auth0|stranger'];

/** The token of a caller, as the authorizer hands it on. */
function tokenOf(caller: CallerKind): Pick<GatewayRequest, 'userId' | 'scope' | 'claims'> {
  const userId = userOf(caller);
  if (caller === 'operator') return { userId, scope: 'operator' };
  if (caller === 'machine') return { userId, scope: 'device:*' };
  const role = projectRoleNames.find((name) => name === caller);
  const projects = [{ id: project, name: 'The project', ...(role && { role }) }];
  return { userId, claims: { projects: JSON.stringify(projects) } };
}

/** A thing of each kind for each route and caller: what one call changes is no other call’s. */
function thingOf(route: RouteWithToken, caller: CallerKind, kind: ThingKind): Thing & { readonly number: number } {
  const number =
    (routes.indexOf(route) * callers.length + callers.indexOf(caller)) * things.length + things.indexOf(kind);
  const owners = {
    own: { user_id: userOf(caller), project_id: project },
    'fellow’s': { user_id: fellow, project_id: project },
    'other project’s': { user_id: fellow, project_id: otherProject },
    'stranger’s': { user_id: stranger, project_id: strangersProject },
    missing: { user_id: 'auth0|no user', project_id: uuid('c', 4) },
  };
  return { number, batch_id: uuid('b', number), job_id: uuid('a', number), ...owners[kind] };
}

const namesRows = (route: RouteWithToken) => {
  const sent = JSON.stringify(accessCases[route].request(thingOf(route, 'none', 'own')));
  const { batch_id, job_id } = thingOf(route, 'none', 'own');
  return sent.includes(batch_id) || sent.includes(job_id);
};

beforeAll(async () => {
  const writer = writeApi(db);
  const cells = routes
    .filter(namesRows)
    .flatMap((route) =>
      callers.flatMap((caller) => things.map((kind) => ({ route, kind, thing: thingOf(route, caller, kind) }))),
    );
  const stored = cells.filter(({ kind }) => kind !== 'missing');
  for (const [userId, cellsOfUser] of Map.groupBy(stored, ({ thing }) => thing.user_id)) {
    const content = { device_type: 'FRESNEL', queue_priority: 'LOW' } as const;
    await writer.createBatches(
      userId,
      cellsOfUser.map(({ route, thing: { number, project_id, job_id: id } }) =>
        newBatch(number, { ...content, project_id, open: !accessCases[route].ended, jobs: [newJob(number, { id })] }),
      ),
    );
    for (const { route, thing } of cellsOfUser) {
      if (accessCases[route].ended) {
        const results_key = `results/${userId}/${thing.job_id}.json`;
        await results.put(results_key, { counter: { '0': 1 } });
        await writer.recordJobStatus(userId, thing.job_id, { status: 'DONE', results_key });
      } else if (route === 'setBatchPriority') {
        const Key = { user_id: userId, id: thing.batch_id };
        await changeItem(client, names.Batches, { Key, attributes: { queue_key: null } });
      }
    }
  }
  for (const project_id of [project, otherProject, strangersProject]) {
    await changeLimits(db, { operator: 'operator', subject: projectSubject(project_id), limits: projectLimits });
  }
  await announceDevice(db, 'FRESNEL', { status: 'UP', specs: '{"name":"FRESNEL"}' });
  await reportCalibration(db, 'FRESNEL', { numbers: { p_false_pos: 0.01 } });
});

async function ask(route: RouteWithToken, caller: CallerKind, thing: Thing) {
  asked.length = 0;
  const event = gatewayEvent(route, { ...accessCases[route].request(thing), ...tokenOf(caller) });
  const answer = await handlers[route](event, lambdaContext());
  const { 'X-Request-Id': _, ...headers } = answer.headers as Record<string, string>;
  const content = expectDocumented(route, answer) as { data: unknown };
  return {
    answer: { status: answer.statusCode, headers, body: answer.body },
    data: content.data,
    calls: [...asked].sort(),
  };
}

/** What single ids of cancelBatches are answered. */
const verdictOfError = {
  'There is no such batch.': 'not_found',
  'Only its owner, or an administrator of its project, may do this.': 'not_the_owner',
} as const satisfies Record<string, Verdict>;

function verdictOf(data: unknown, { batch_id }: Thing): Verdict {
  const { reason, errors } = (data ?? {}) as { reason?: Verdict; errors?: Record<string, keyof typeof verdictOfError> };
  if (reason !== undefined) return reason;
  if (errors?.[batch_id] !== undefined) return verdictOfError[errors[batch_id]];
  return Array.isArray(data) && data.length === 0 ? 'empty' : 'ok';
}

describe.each(routes)('%s', (route) => {
  it.each(callers)('answers %s as the table says, and alike for what is not theirs to see', async (caller) => {
    const verdicts: Verdict[] = [];
    const unseen: unknown[] = [];
    let before = '';
    for (const kind of things) {
      const thing = thingOf(route, caller, kind);
      const request = JSON.stringify(accessCases[route].request(thing));
      // What names no thing is asked for once.
      if (request === before) {
        verdicts.push(verdicts.at(-1)!);
        continue;
      }
      before = request;
      const { answer, data, calls } = await ask(route, caller, thing);
      const verdict = verdictOf(data, thing);
      verdicts.push(verdict);
      // Byte for byte, but for the id where the body names it.
      const body = answer.body.replaceAll(thing.batch_id, 'ID');
      if (verdict === 'not_found') unseen.push({ ...answer, body, calls });
    }
    expect(verdicts).toEqual(accessCases[route].answers[caller]);
    for (const each of unseen) expect(each).toEqual(unseen.at(-1));
  });
});
