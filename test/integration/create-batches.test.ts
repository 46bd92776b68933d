/** What users create: batches with their jobs and sequences, and further jobs. */

import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { cancelBatch } from '../../functions/data/batches/cancellations.ts';
import { addJobs, createBatch } from '../../functions/data/batches/new-batches.ts';
import { recoverBatch } from '../../functions/data/batches/recovery.ts';
import type { RouteName } from '../../functions/routes.ts';
import { AddJobsRequest, CreateBatchRequest } from '../../functions/schemas/batch-request.ts';
import { Claims } from '../../functions/schemas/claims.ts';
import { type Answer, ask } from '../support/ask.ts';
import { deep, rotate } from '../support/depth.ts';
import { expectDocumented } from '../support/documented-answers.ts';
import { dyingClient } from '../support/dying-client.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { failures, finalFailures, startFaultProxy, throttles } from '../support/fault-proxy.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { type GatewayRequest, gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { loadHandler } from '../support/handlers.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { itemsOfOwner } from '../support/items-of-owner.ts';
import { loadDevices } from '../support/load-devices.ts';
import { measuredClient } from '../support/measured-client.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { uuid } from '../support/new-batch.ts';
import { soundRows } from '../support/owner-rows.ts';
import { deviceContent, sequenceText, sequenceWith } from '../support/sequence-text.ts';
import { smallLists } from '../support/small-lists.ts';
import { testClient } from '../support/test-client.ts';
import { testDb } from '../support/test-db.ts';
import { allResults } from '../support/worker-stack.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const db = testDb(client, names);
const sink = await startMessageSink();
afterAll(() => sink.stop());
const writer = writeApi(db);
const claims = Claims.parse({});
const project_id = uuid('c', 1);
const sequence_builder = sequenceWith('omega');

beforeAll(() => loadDevices(client, names));

const post = (userId: string, body: unknown, more: GatewayRequest = {}) =>
  ask('createBatch', { userId, body, ...more });
const add = (userId: string, batch_id: string, body: unknown, more: GatewayRequest = {}) =>
  ask('addJobs', { userId, path: { batch_id }, body, ...more });
const bodyOf = (content: Record<string, unknown> = {}) => ({
  project_id,
  device_type: 'FRESNEL',
  sequence_builder,
  jobs: [{ runs: 100, variables: { omega: [1.5] } }],
  ...content,
});
/** The database of a function that dies after `most` transactions. */
const dying = (most: number) => ({ ...db, client: dyingClient(client, most).client });
const newUser = () => `auth0|${randomUUID()}`;
const key = (value: string) => ({ headers: { 'Idempotency-Key': value } });
const keyRefused = {
  status: 409,
  data: { reason: 'idempotency_key_reused' },
};
const faultsOf = ({ detail }: Answer) =>
  detail.map(({ loc, type }: { loc: unknown[]; type: string }) => [loc.join('.'), type]);
const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

/** Everything that the user has, sound. */
async function sound(userId: string) {
  const rows = await soundRows(client, names, userId);
  return { ...rows, sequences: await itemsOfOwner(client, names.Sequences, userId) };
}

describe('POST /api/v1/batches', () => {
  it('creates the batch with its jobs, and shows it as every later read does', async () => {
    const user = newUser();
    const own = sequenceText({ name: 'own' });
    const request = bodyOf({
      jobs: [{ runs: 100, variables: { omega: [1.5] } }, {}, { runs: 5, sequence: own }],
      tags: ['a', 'b', 'a'],
      webhook: 'anything',
      configuration: { dt: 10.5, nested: { __proto__: null } },
      backend_configuration: '{"dt": Infinity}',
      hybrid: true,
    });
    const { status, data } = await post(user, request);
    expect(status).toBe(200);
    expect(data).toMatchObject({
      project_id,
      user_id: user,
      status: 'PENDING',
      open: false,
      complete: true,
      device_type: 'FRESNEL',
      queue_priority: 'MEDIUM',
      tags: ['a', 'b'],
      webhook: 'anything',
      configuration: { dt: 10.5, nested: {} },
      backend_configuration: '{"dt": Infinity}',
      sequence_builder,
      jobs_count: 3,
      jobs_count_per_status: { PENDING: 3 },
      parent_id: null,
    });
    const { jobs } = data;
    expect(jobs).toMatchObject([
      { runs: 100, variables: { omega: [1.5] }, creation_order: 0, origin: 'CLIENT', errors: null },
      { runs: null, variables: null, creation_order: 1 },
      { runs: 5, creation_order: 2, batch_id: data.id, project_id },
    ]);
    const { data: shown } = await ask('getBatch', { userId: user, path: { batch_id: data.id } });
    const { job_ids, rights, ...rest } = shown;
    expect(rest).toEqual(data);
    expect(job_ids).toEqual(idsOf(jobs));
    expect((await ask('getJob', { userId: user, path: { job_id: jobs[2].id } })).data.sequence).toBe(own);
    const listed = await ask('listJobs', { userId: user, query: { batch_id: data.id, order_by: 'creation_order' } });
    expect(listed.pagination.total).toBe(3);
    expect((await sound(user)).sequences).toHaveLength(2);
  });

  it('takes the priority from the token, or a lower one from the body', async () => {
    const user = newUser();
    const priorityOf = async (claim: string | undefined, queue_priority: string | null) =>
      (await post(user, bodyOf({ queue_priority }), claim === undefined ? {} : { claims: { queue_priority: claim } }))
        .data.queue_priority;
    expect(await priorityOf(undefined, null)).toBe('MEDIUM');
    expect(await priorityOf('HIGH', null)).toBe('HIGH');
    expect(await priorityOf('HIGH', 'LOW')).toBe('LOW');
    expect(await priorityOf('LOW', 'CRITICAL')).toBe('LOW');
  });

  it('refuses a project that the token does not name', async () => {
    const projects = JSON.stringify([{ id: project_id, name: 'Mine' }]);
    const user = newUser();
    expect((await post(user, bodyOf(), { claims: { projects } })).status).toBe(200);
    const other = bodyOf({ project_id: uuid('c', 2) });
    expect(await post(user, other, { claims: { projects } })).toMatchObject({ status: 403 });
    expect((await post(user, bodyOf(), { claims: { projects: '[]' } })).status).toBe(403);
    expect((await sound(user)).batches).toHaveLength(1);
  });

  it('finds the device by the name that its sequence’s device has', async () => {
    const user = newUser();
    const made = (name: string) => sequenceText({ device: deviceContent(name) });
    const batchFor = (content: Record<string, unknown>) =>
      post(user, bodyOf({ device_type: null, jobs: [{}], ...content }));
    expect((await batchFor({ sequence_builder: made('FRESNEL') })).data.device_type).toBe('FRESNEL');
    const ofJob = { sequence_builder: null, jobs: [{ sequence: made('EMU_MPS') }] };
    expect((await batchFor(ofJob)).data.device_type).toBe('EMU_MPS');
    for (const content of [
      { sequence_builder: made('LOST') },
      { sequence_builder: sequenceText({ device: 'MockDevice' }) },
      { jobs: [], open: true, sequence_builder: null },
    ]) {
      const refused = await batchFor(content);
      expect([refused.status, faultsOf(refused)]).toEqual([422, [['body.device_type', 'missing']]]);
    }
    expect((await post(user, bodyOf({ device_type: 'NEVER_ANNOUNCED' }))).data.device_type).toBe('NEVER_ANNOUNCED');
  });

  it('reports all faults at once', async () => {
    const refused = await post(
      newUser(),
      bodyOf({ project_id: 'mine', jobs: [{ runs: 0 }, { variables: { delta: 1 } }] }),
      key(''),
    );
    expect(refused.status).toBe(422);
    expect(faultsOf(refused).sort()).toEqual([
      ['body.jobs.0.runs', 'greater_than_equal'],
      ['body.jobs.1.variables.delta', 'extra_forbidden'],
      ['body.project_id', 'uuid_parsing'],
      ['header.idempotency-key', 'string_too_short'],
    ]);
  });

  it('refuses two idempotency keys, unless they are the same', async () => {
    const user = newUser();
    const keys = (...values: string[]) => ({ headers: { 'Idempotency-Key': values } });
    const refused = await post(user, bodyOf(), keys('one', 'other'));
    expect([refused.status, faultsOf(refused)]).toEqual([422, [['header.idempotency-key', 'string_type']]]);
    const other = { 'idempotency-key': 'one', 'Idempotency-Key': 'other' };
    expect((await post(user, bodyOf(), { headers: other })).status).toBe(422);
    expect((await post(user, bodyOf(), keys('one', 'one'))).status).toBe(200);
    expect((await sound(user)).batches).toHaveLength(1);
  });

  it('takes a body of almost 6 MB, and refuses a larger one', async () => {
    const user = newUser();
    const content = (size: number) => bodyOf({ sequence_builder: `{"a":"${'x'.repeat(size)}"}`, jobs: [{}] });
    const large = await post(user, content(5_000_000));
    expect(large.data.sequence_builder).toHaveLength(5_000_008);
    expect((await post(user, content(6_500_000))).status).toBe(413);
  });

  it('creates the jobs of many transactions, in order and sound', async () => {
    const user = newUser();
    const count = deep ? 5_000 : 500;
    const jobs = Array.from({ length: count }, (_, runs) => ({ runs: runs + 1 }));
    const { status, data } = await post(user, bodyOf({ jobs }));
    expect(status).toBe(200);
    expect(data).toMatchObject({ jobs_count: count });
    expect(data).not.toHaveProperty('jobs');
    const rows = await sound(user);
    expect(rows.jobs.map(({ runs }) => runs)).toEqual(jobs.map(({ runs }) => runs));
    expect(rows.batches[0]).not.toHaveProperty('creating');
  });

  it('creates many jobs with large sequences of their own', async () => {
    const user = newUser();
    const noise = () => Array.from({ length: 15_000 }, () => Math.random());
    const text = (at: number) =>
      sequenceText({ name: `${at}`, metadata: { package_versions: {}, extra: { noise: noise() } } });
    const jobs = Array.from({ length: 16 }, (_, at) => ({ sequence: text(at) }));
    expect(gzipSync(jobs[0]!.sequence).length).toBeGreaterThan(100_000);
    const { status } = await post(user, bodyOf({ sequence_builder: null, jobs }));
    expect(status).toBe(200);
    const { sequences, jobs: rows } = await sound(user);
    expect(sequences.map(({ id }) => id).sort()).toEqual(idsOf(rows).sort());
  });
});

describe('numbers in variables and configuration', () => {
  const numbers = '[1e400,9007199254740993,18446744073709551616,-0,1.0,0.10,1E5]';

  it('have the digits that were sent, wherever they are shown', async () => {
    const user = newUser();
    const device_type = `EXACT ${randomUUID()}`;
    const textOf = async (route: RouteName, request: GatewayRequest) => {
      const handler = await loadHandler(route);
      const answer = await handler(gatewayEvent(route, { userId: user, ...request }), lambdaContext());
      expectDocumented(route, answer);
      expect(answer.statusCode).toBe(200);
      return answer.body;
    };
    const job = `{"runs":1.0,"variables":{"omega":${numbers}}}`;
    const start = JSON.stringify(bodyOf({ device_type, open: true, jobs: [] }))
      .slice(0, -1)
      .replace(',"jobs":[]', '');
    const created = await textOf('createBatch', {
      body: `${start}, "configuration": {"dt": ${numbers}}, "jobs": [${job}]}`,
    });
    const { id: batch_id, jobs } = JSON.parse(created).data;
    const added = await textOf('addJobs', { path: { batch_id }, body: `[${job}]` });
    const batch = await textOf('getBatch', { path: { batch_id } });
    const listed = await textOf('listBatches', {});
    const claimed = await textOf('claimBatch', {
      scope: 'device:*',
      path: { device_type },
      body: { worker: 'w' },
    });
    await textOf('closeBatch', { path: { batch_id } });
    const again = await textOf('rebatch', { path: { batch_id } });
    for (const text of [created, added, batch, listed, claimed, again]) {
      expect(text).toContain(`"configuration":{"dt":${numbers}}`);
    }
    const job_id = jobs[0].id;
    const shown = [await textOf('getJob', { path: { job_id } }), await textOf('listJobs', {})];
    for (const text of [created, added, batch, claimed, again, ...shown]) {
      expect(text).toContain(`"runs":1,`);
      expect(text).toContain(`"variables":{"omega":${numbers}}`);
    }
  });
});

describe('POST /api/v1/batches with an idempotency key', () => {
  it.each([1, 120])('answers with the same batch of %i jobs, and refuses another body', async (count) => {
    const user = newUser();
    const body = bodyOf({ jobs: Array.from({ length: count }, () => ({ runs: 5 })) });
    const first = await post(user, body, key('k'));
    expect(await post(user, body, key('k'))).toEqual(first);
    expect(await post(user, bodyOf({ jobs: body.jobs, tags: ['other'] }), key('k'))).toMatchObject(keyRefused);
    expect((await post(user, body, key('l'))).data.id).not.toBe(first.data.id);
    expect((await post(newUser(), body, key('k'))).data.id).not.toBe(first.data.id);
    expect((await sound(user)).batches).toHaveLength(2);
  });

  it('creates it once, however many send it at the same time', async () => {
    const user = newUser();
    const answers = await Promise.all(Array.from({ length: deep ? 6 : 4 }, () => post(user, bodyOf(), key('k'))));
    expect(new Set(answers.map(({ data }) => data?.id)).size).toBe(1);
    expect((await sound(user)).batches).toHaveLength(1);
  });

  it('lets no other body go on with what a call has begun', async () => {
    const user = newUser();
    const jobs = Array.from({ length: 120 }, () => ({ runs: 5 }));
    const send = async (body: Record<string, unknown>, transactions = Number.POSITIVE_INFINITY) => {
      const call = { userId: user, idempotencyKey: 'k', claims };
      return createBatch(dying(transactions), call, CreateBatchRequest.parse(body));
    };
    await expect(send(bodyOf({ jobs }), 1)).rejects.toThrow('killed');
    const refused = { name: 'AlreadyExists' };
    await expect(send(bodyOf({ jobs, sequence_builder: sequenceWith('delta') }))).rejects.toMatchObject(refused);
    await expect(send(bodyOf({ jobs: jobs.slice(0, 5) }))).rejects.toMatchObject(refused);
    expect((await send(bodyOf({ jobs }))).jobs_count).toBe(120);
    expect((await sound(user)).batches[0]).not.toHaveProperty('creating');
  });

  it.each([1, 120])('answers with it to a token of another priority: %i jobs', async (count) => {
    const user = newUser();
    const body = bodyOf({ jobs: Array.from({ length: count }, () => ({ runs: 5 })) });
    const first = await post(user, body, key('k'));
    const again = await post(user, body, { ...key('k'), claims: { queue_priority: 'HIGH' } });
    expect([again.status, again.data]).toEqual([200, first.data]);
  });

  it('knows the body again, however its sequences are compressed', async () => {
    const body = CreateBatchRequest.parse(bodyOf());
    const { text } = body.sequence_builder!;
    const otherwise = {
      ...body,
      sequence_builder: { ...body.sequence_builder!, gzipped: gzipSync(text, { level: 1 }) },
    };
    const call = { userId: newUser(), idempotencyKey: 'k', claims };
    const { id } = await createBatch(db, call, body);
    expect(await createBatch(db, call, otherwise)).toMatchObject({ id });
  });

  it.each(['Columns', 'Limits', 'DeviceQueue'] as const)(
    'answers with it though it is made while %s is read',
    async (table) => {
      const call = { userId: newUser(), idempotencyKey: 'k', claims };
      const body = CreateBatchRequest.parse(bodyOf());
      let made: { id: string } | undefined;
      const disturbed = interceptedClient(client, async (read) => {
        const { RequestItems = {}, TableName } = read.input as { RequestItems?: object; TableName?: string };
        if (made === undefined && (TableName === names[table] || Object.hasOwn(RequestItems, names[table]))) {
          made = await createBatch(db, call, body);
        }
        return read.send();
      });
      const { id } = await createBatch({ ...db, client: disturbed }, call, body);
      expect(made).toMatchObject({ id });
    },
  );

  it('is remembered once where one transaction creates all, and from the first of several on', async () => {
    for (const [count, most] of [
      [30, 1],
      [150, 2],
    ] as const) {
      const user = newUser();
      await post(user, bodyOf({ jobs: Array.from({ length: count }, () => ({})) }), key('k'));
      const remembered = (await itemsOfOwner(client, names.Columns, user)).filter((item) =>
        String(item.key).startsWith('event#'),
      );
      expect(remembered).toHaveLength(most);
    }
  });

  it('answers with it though it is made while an attempt reads again, whose reads have the batch alone', async () => {
    const call = { userId: newUser(), idempotencyKey: 'k', claims };
    const body = CreateBatchRequest.parse(bodyOf());
    let hasFailed = false;
    let made: { id: string } | undefined;
    const disturbed = interceptedClient(client, async ({ name, input, send }) => {
      if (name === 'TransactWriteCommand' && !hasFailed) {
        // New rows are not read before that.
        hasFailed = true;
        const CancellationReasons = [{ Code: 'TransactionConflict' }];
        throw Object.assign(new Error('Conflict'), { name: 'TransactionCanceledException', CancellationReasons });
      }
      const { RequestItems = {} } = input as { RequestItems?: object };
      if (!hasFailed || made !== undefined || !Object.hasOwn(RequestItems, names.Batches)) return send();
      const before = await send();
      made = await createBatch(db, call, body);
      const { [names.Batches]: batches } = (await send()).Responses as Record<string, unknown>;
      return { ...before, Responses: { ...(before.Responses as object), [names.Batches]: batches } };
    });
    const { id } = await createBatch({ ...db, client: disturbed }, call, body);
    expect(made).toMatchObject({ id });
  });

  it('answers with the batch as it is now', async () => {
    const user = newUser();
    const { data } = await post(user, bodyOf({ open: true }), key('k'));
    await writer.closeBatch(user, data.id);
    expect((await post(user, bodyOf({ open: true }), key('k'))).data).toMatchObject({
      id: data.id,
      open: false,
    });
  });
});

describe('POST /api/v2/batches/{batch_id}/jobs', () => {
  const openBatch = async (user: string, content: Record<string, unknown> = {}) =>
    (await post(user, bodyOf({ open: true, ...content }))).data;

  it('adds the jobs after those that the batch has, and shows all of them', async () => {
    const user = newUser();
    const batch = await openBatch(user);
    const { status, data } = await add(user, batch.id, [{ runs: 7 }, { variables: { omega: 2 } }]);
    expect(status).toBe(200);
    expect(data).toMatchObject({ id: batch.id, open: true, jobs_count: 3 });
    expect(data.jobs).toMatchObject([{ runs: 100 }, { runs: 7, creation_order: 1 }, { runs: null, creation_order: 2 }]);
    const many = await add(
      user,
      batch.id,
      Array.from({ length: 98 }, () => ({})),
    );
    expect(many.data.jobs_count).toBe(101);
    expect(many.data).not.toHaveProperty('jobs');
    await sound(user);
  });

  it('judges variables by the batch’s sequence', async () => {
    const user = newUser();
    const batch = await openBatch(user);
    const refused = await add(user, batch.id, [{}, { variables: { delta: 1 } }]);
    expect([refused.status, faultsOf(refused)]).toEqual([422, [['body.1.variables.delta', 'extra_forbidden']]]);
    const without = await openBatch(user, { sequence_builder: null, jobs: [] });
    const missing = await add(user, without.id, [{ runs: 5 }, { sequence: sequenceText() }]);
    expect(faultsOf(missing)).toEqual([['body.0.sequence', 'missing']]);
    expect((await add(user, without.id, [{ sequence: sequenceText() }])).status).toBe(200);
  });

  it('refuses a closed batch, and knows no other user’s', async () => {
    const user = newUser();
    const closed = (await post(user, bodyOf())).data;
    expect((await add(user, closed.id, [{}])).status).toBe(409);
    const batch = await openBatch(user);
    expect((await add(newUser(), batch.id, [{}])).status).toBe(404);
    await writer.recordBatchStatus(user, batch.id, { status: 'TIMED_OUT' });
    expect((await add(user, batch.id, [{}])).status).toBe(409);
    expect((await sound(user)).jobs).toHaveLength(2);
  });

  it('refuses a project that the token does not name', async () => {
    const user = newUser();
    const batch = await openBatch(user);
    const addAs = (id: string) =>
      add(user, batch.id, [{}], { claims: { projects: JSON.stringify([{ id, name: 'Mine' }]) } });
    const refused = { status: 403, data: { reason: 'project_not_allowed' } };
    expect(await addAs(uuid('c', 2))).toMatchObject(refused);
    expect((await addAs(project_id)).data.jobs_count).toBe(2);
    expect((await sound(user)).jobs).toHaveLength(2);
  });

  it('adds them once for each idempotency key', async () => {
    const user = newUser();
    const batch = await openBatch(user);
    const first = await add(user, batch.id, [{ runs: 7 }], key('k'));
    expect(await add(user, batch.id, [{ runs: 7 }], key('k'))).toEqual(first);
    expect(await add(user, batch.id, [{ runs: 8 }], key('k'))).toMatchObject(keyRefused);
    await writer.closeBatch(user, batch.id);
    expect((await add(user, batch.id, [{ runs: 7 }], key('k'))).data).toMatchObject({
      open: false,
      jobs_count: 2,
    });
    expect((await sound(user)).jobs).toHaveLength(2);
  });

  it('takes the key of the creation for a call of its own', async () => {
    const user = newUser();
    const created = await post(user, bodyOf({ open: true, jobs: [{ runs: 7 }] }), key('k'));
    const added = await add(user, created.data.id, [{ runs: 7 }], key('k'));
    expect(added.data).toMatchObject({ jobs_count: 2 });
    expect((await sound(user)).jobs).toHaveLength(2);
  });

  it('shows all jobs in their order when a call is repeated after a later one', async () => {
    const user = newUser();
    const batch = await openBatch(user);
    await add(user, batch.id, [{ runs: 1 }], key('k'));
    await add(user, batch.id, [{ runs: 2 }], key('l'));
    const { data } = await add(user, batch.id, [{ runs: 1 }], key('k'));
    expect(data.jobs.map(({ runs }: { runs: number }) => runs)).toEqual([100, 1, 2]);
  });

  it('lets no other body go on with what a call has begun', async () => {
    const user = newUser();
    const batch = await openBatch(user);
    const own = (name: string) => Array.from({ length: 60 }, () => ({ sequence: sequenceText({ name }) }));
    const send = (name: string, transactions = Number.POSITIVE_INFINITY) => {
      const call = { userId: user, idempotencyKey: 'k', claims };
      const further = { batchId: batch.id, body: AddJobsRequest.parse(own(name)) };
      return addJobs(dying(transactions), call, further);
    };
    await expect(send('one', 1)).rejects.toThrow('killed');
    await expect(send('other')).rejects.toMatchObject({ name: 'AlreadyExists' });
    expect((await send('one')).jobs_count).toBe(61);
  });

  it('adds nothing to a batch that was closed after the call began, nor by a clock that is ahead', async () => {
    const user = newUser();
    const batch = await openBatch(user);
    const time = new Date(Date.now() + 60_000).toISOString();
    const event = { id: 'close', digest: 'close', time: time.replace('Z', '000Z') };
    await writer.closeBatch(user, batch.id, { event });
    await writer.recordJobStatus(user, batch.jobs[0].id, { status: 'DONE' });
    expect((await add(user, batch.id, [{}])).status).toBe(409);
    const { batches, jobs } = await sound(user);
    expect([batches[0]?.status, jobs.length]).toEqual(['DONE', 1]);
  });

  it('loses no job and leaves no gap when many add at once', async () => {
    const many = deep ? 8 : 4;
    const user = newUser();
    const batch = await openBatch(user);
    const answers = await Promise.all(
      Array.from({ length: many }, (_, runs) => add(user, batch.id, [{ runs: runs + 1 }])),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const { jobs } = await sound(user);
    expect(jobs.map(({ creation_order }) => creation_order)).toEqual(jobs.map((_, place) => place));
    expect(jobs).toHaveLength(many + 1);
  });
});

describe('a creation, one of whose calls fails', async () => {
  const proxy = await startFaultProxy(dynamodbEndpoint);
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', proxy.url);
  const faults = Object.entries({ ...throttles, ...failures, ...finalFailures });

  vi.resetModules();
  const handler = await loadHandler('createBatch');

  /** At one of the first seven calls, or from the third on. */
  const places = [1, 2, 3, 4, 5, 6, 7].map((from) => ({ from, times: 1 }));
  const struck = rotate([...places, { from: 3, times: Number.POSITIVE_INFINITY }], () => faults);

  it.concurrent.each(struck)(
    'is there once when it is sent again with its key, after $fault.0 at call $place.from',
    async ({ place, fault: [, strike] }) => {
      const user = newUser();
      const body = bodyOf({ jobs: Array.from({ length: 60 }, () => ({ runs: 5 })) });
      const send = () => handler(gatewayEvent('createBatch', { userId: user, body, ...key('k') }), lambdaContext());
      proxy.plan(user, { strike, ...place });
      const first = await send();
      await proxy.quiet(user);
      expect([200, 429, 500, 504]).toContain(first.statusCode);
      proxy.plan(user);
      const again = await send();
      expect(again.statusCode).toBe(200);
      const { batches, jobs: rows } = await sound(user);
      expect([batches.length, rows.length]).toEqual([1, 60]);
      expect(idsOf(batches)).toEqual([JSON.parse(again.body).data.id]);
    },
  );
});

describe('a creation that died on its way', () => {
  const jobs = Array.from({ length: 180 }, () => ({ runs: 5 }));

  it.each([1, 2])('is announced before it begins, and canceled with its jobs: after %i transactions', async (most) => {
    const user = newUser();
    const announced: string[] = [];
    const through = dyingClient(client, most);
    const body = CreateBatchRequest.parse(bodyOf({ jobs }));
    const call = { userId: user, claims };
    const created = createBatch({ ...db, client: through.client }, call, body, async (unfinished) => {
      expect([unfinished.userId, through.transactions]).toEqual([user, 0]);
      announced.push(unfinished.batchId);
    });
    await expect(created).rejects.toThrow('killed');
    const begun = await sound(user);
    expect(begun.batches).toMatchObject([{ id: announced[0], creating: true, status: 'PENDING' }]);
    expect(await recoverBatch(db, allResults, { user_id: user, batch_id: announced[0]! })).toBe('canceled');
    const { batches, jobs: rows } = await sound(user);
    expect(batches).toMatchObject([{ status: 'CANCELED', open: false, jobs_count: begun.jobs.length }]);
    expect(batches[0]).not.toHaveProperty('creating');
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['CANCELED']));
    expect(await recoverBatch(db, allResults, { user_id: user, batch_id: announced[0]! })).toBe('finished');
  });

  it('does not go on while it is being canceled', async () => {
    const user = newUser();
    const call = { userId: user, idempotencyKey: 'k', claims };
    const body = CreateBatchRequest.parse(bodyOf({ jobs }));
    await expect(createBatch(dying(2), call, body)).rejects.toThrow('killed');
    const { id } = (await sound(user)).batches[0]!;
    await expect(cancelBatch(dying(1), { userId: user, batchId: id })).rejects.toThrow('killed');
    expect((await sound(user)).batches).toMatchObject([{ creating: true, canceling: true }]);
    await expect(createBatch(db, call, body)).rejects.toMatchObject({ status: 409 });
    expect(await recoverBatch(db, allResults, { user_id: user, batch_id: id })).toBe('canceled');
    await expect(createBatch(db, call, body)).rejects.toMatchObject({ status: 409 });
    // As many as two transactions hold, the first one beside what a first batch in a project needs.
    expect((await sound(user)).jobs).toHaveLength(150);
  });

  it('is announced also where its jobs and tags turn out to be too many for one transaction', async () => {
    const user = newUser();
    const announced: number[] = [];
    const counted = dyingClient(client, Number.POSITIVE_INFINITY);
    // Small blocks: 50 jobs lie in several of them.
    const small = testDb(counted.client, names, { formats: smallLists(16) });
    const tags = Array.from({ length: 20 }, (_, at) => `tag ${at}`);
    const body = CreateBatchRequest.parse(bodyOf({ jobs: jobs.slice(0, 50), tags }));
    await createBatch(small, { userId: user, claims }, body, async () => void announced.push(counted.transactions));
    expect(counted.transactions).toBeGreaterThan(1);
    expect(announced).toEqual([0]);
  });

  it('leaves alone what was finished or never begun', async () => {
    const user = newUser();
    sink.messages.length = 0;
    const { data } = await post(user, bodyOf({ jobs }));
    expect(sink.messages.map((message) => JSON.parse(message.body))).toEqual([{ user_id: user, batch_id: data.id }]);
    expect(await recoverBatch(db, allResults, { user_id: user, batch_id: data.id })).toBe('finished');
    expect(await recoverBatch(db, allResults, { user_id: newUser(), batch_id: data.id })).toBe('not begun');
    expect((await sound(user)).batches).toMatchObject([{ status: 'PENDING' }]);
    await post(user, bodyOf({ jobs: jobs.slice(0, 50) }));
    expect(sink.messages).toHaveLength(1);
  });
});

describe('what a creation costs', () => {
  it('is little more than its rows', async () => {
    const measured = testClient(dynamodbEndpoint);
    const measure = measuredClient(measured);
    const costOf = async (content: Record<string, unknown>) => {
      const call = { userId: newUser(), claims };
      const body = CreateBatchRequest.parse(bodyOf(content));
      // One that measures sends the items of a transaction one by one.
      await createBatch(db, call, body);
      const { cost } = await measure(() => createBatch({ ...db, client: measured }, call, body));
      return cost;
    };
    const jobs = (count: number) => ({ jobs: Array.from({ length: count }, () => ({ runs: 5 })) });
    const writeUnits = async (content: Record<string, unknown>) => (await costOf(content)).writeUnits;
    expect(await writeUnits({ ...jobs(0), open: true })).toBe(7);
    expect(await writeUnits(jobs(1))).toBe(18);
    expect(await writeUnits(jobs(4))).toBe(27);
    expect(await writeUnits(jobs(50))).toBeLessThan(209);
  });
});
