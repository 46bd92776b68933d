/** What operators read of users' names. list-audit.test.ts has more of the audit trail. */

import { randomUUID } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { cancelBatch } from '../../functions/data/batches/cancellations.ts';
import { createBatch } from '../../functions/data/batches/new-batches.ts';
import { namesOf } from '../../functions/data/projects/names.ts';
import type { RouteName } from '../../functions/routes.ts';
import { ask } from '../support/ask.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { type GatewayRequest, gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { loadHandler } from '../support/handlers.ts';
import { writeAll } from '../support/load-list.ts';
import { measuredClient } from '../support/measured-client.ts';
import { newBatch, newBatchRequest, uuid } from '../support/new-batch.ts';
import { testClient } from '../support/test-client.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const db = testDb(client, names);
const newUser = () => `auth0|${randomUUID()}`;
const create = (userId: string, user_name?: string, content: object = {}) =>
  createBatch(db, { userId, claims: { queue_priority: 'LOW', user_name } }, { ...newBatchRequest(1), ...content });
const asOperator = (name: RouteName, request: GatewayRequest = {}) =>
  ask(name, { userId: 'operator', scope: 'operator', ...request });

describe('namesOf', () => {
  it('finds the names in the users’ newest projects, and says nothing of others', async () => {
    const [ada, bob, nobody, broken] = [newUser(), newUser(), newUser(), newUser()];
    await create(ada, 'Ada', { project_id: uuid('c', 1) });
    await create(ada, 'Ada King', { project_id: uuid('c', 2) });
    await create(bob);
    await client.send(new PutCommand({ TableName: names.Columns, Item: { user_id: broken, key: 'b#head' } }));
    expect(await namesOf(db, [ada, bob, nobody, broken, ada])).toEqual(new Map([[ada, 'Ada King']]));
    expect(await namesOf(db, [])).toEqual(new Map());
  });

  it.each([23, 24, 25, 48])('finds the newest of %i projects, wherever their ids are', async (count) => {
    const user = newUser();
    const projects = Array.from({ length: count }, (_, at) => uuid('c', at));
    await writeApi(db).createBatches(
      user,
      projects.map((project_id, at) => newBatch(at, { project_id })),
    );
    const items = projects.map((project_id) => ({ project_id, user_id: user, user_name: `Ada of ${project_id}` }));
    await writeAll(
      client,
      items.map((item) => [names.Contributors, item] as const),
    );
    expect(await namesOf(db, [user])).toEqual(new Map([[user, `Ada of ${projects.at(-1)}`]]));
  });

  it('costs a read unit for each user, in two calls', async () => {
    const users = Array.from({ length: 5 }, newUser);
    for (const user of users) await create(user, 'Ada');
    const measured = testClient(dynamodbEndpoint);
    const { cost, value } = await measuredClient(measured)(() => namesOf({ ...db, client: measured }, users));
    expect(value.size).toBe(5);
    expect(cost).toMatchObject({ calls: 2, readUnits: 5, writeUnits: 0 });
  });
});

describe('operators read', () => {
  it('what the owners of queued batches are called', async () => {
    const [ada, bob] = [newUser(), newUser()];
    const device_type = `DEVICE_${randomUUID()}`;
    await create(ada, 'Ada', { device_type });
    await create(bob, undefined, { device_type });
    const { data } = await asOperator('listQueue', { path: { device_type } });
    const shown = data.map(({ user_id, user_name }: Record<string, unknown>) => [user_id, user_name]);
    expect(shown).toHaveLength(2);
    expect(shown).toEqual(
      expect.arrayContaining([
        [ada, 'Ada'],
        [bob, null],
      ]),
    );
  });

  it('what users with limits are called, but not projects', async () => {
    const [ada, bob, project] = [newUser(), newUser(), `project:${randomUUID()}`];
    await create(ada, 'Ada');
    const subjects = [`user:${ada}`, `user:${bob}`, project, 'default'];
    for (const subject of subjects) {
      const { data } = await asOperator('putLimits', { path: { subject }, body: { max_unfinished_batches: 1_000 } });
      expect(data).not.toHaveProperty('user_name');
    }
    const found = await Promise.all(subjects.map((subject) => asOperator('getLimits', { path: { subject } })));
    expect(found.map(({ data }) => data.user_name)).toEqual(['Ada', null, undefined, undefined]);
    const { data } = await asOperator('listLimits', { query: 'limit=100' });
    for (const { data: one } of found) expect(data).toContainEqual(one);
  });

  it('what users are called whose usage they ask for, in JSON and at the end of each line of CSV', async () => {
    const [ada, bob, eve] = [newUser(), newUser(), newUser()].sort();
    for (const [user, name] of [
      [ada, 'Ada'],
      [bob, undefined],
      [eve, '=1+1'],
    ] as const) {
      const { id } = await create(user!, name);
      await cancelBatch(db, { userId: user!, batchId: id });
    }
    const query = 'scope=all&group_by=user_id&group_by=device_type';
    const { data } = await asOperator('listUsage', { query });
    const rows = data.rows.filter(({ user_id }: { user_id: string }) => [ada, bob, eve].includes(user_id));
    expect(rows.map(({ user_name }: { user_name: unknown }) => user_name)).toEqual(['Ada', null, '=1+1']);
    const request = { userId: 'operator', scope: 'operator', query, headers: { Accept: 'text/csv' } };
    const { body } = await (await loadHandler('listUsage'))(gatewayEvent('listUsage', request), lambdaContext());
    const lines = body.trimEnd().split('\r\n');
    expect(lines[0]).toBe(
      'period,user_id,device_type,batches,jobs,jobs_done,jobs_error,jobs_canceled,shots,device_seconds,user_name',
    );
    const lineOf = (user: string | undefined) => lines.find((line) => line.includes(String(user)))!.split(',');
    expect([ada, bob, eve].map((user) => lineOf(user).at(-1))).toEqual(['Ada', '', "'=1+1"]);
    expect(lineOf(ada)).toHaveLength(lines[0]!.split(',').length);
  });

  it('nothing of it where rows are not by user; and nobody else reads it', async () => {
    const ada = newUser();
    const { id } = await create(ada, 'Ada');
    await cancelBatch(db, { userId: ada, batchId: id });
    const { data } = await asOperator('listUsage', { query: 'scope=all&group_by=device_type' });
    expect(data.rows.length).toBeGreaterThan(0);
    for (const row of data.rows) expect(row).not.toHaveProperty('user_name');
    const own = await ask('listUsage', { userId: ada, query: 'group_by=user_id' });
    expect(own.data.rows).toHaveLength(1);
    expect(own.data.rows[0]).not.toHaveProperty('user_name');
  });
});

it('the name of an operator stays with each act', async () => {
  const [operator, user_id] = [newUser(), newUser()];
  const device_type = `DEVICE_${randomUUID()}`;
  const { id: batch_id } = await create(user_id, 'Ada', { device_type });
  const act = async (name: RouteName, request: GatewayRequest) => {
    const claims = { user_name: 'Grace Hopper' };
    expect((await ask(name, { userId: operator, scope: 'operator', claims, ...request })).status).toBe(200);
  };
  const path = { user_id, batch_id };
  await act('setBatchPriority', { path, body: { queue_priority: 'HIGH', reason: 'why' } });
  await act('cancelBatchOfUser', { path, body: { reason: 'why' } });
  await act('setDevice', { path: { device_type }, body: { mode: 'PAUSED', reason: 'why' } });
  await act('putLimits', { path: { subject: `user:${user_id}` }, body: {} });
  await act('deleteLimits', { path: { subject: `user:${user_id}` } });
  const { data } = await asOperator('listAudit', { query: { operator } });
  expect(data).toHaveLength(5);
  for (const { operator_name } of data) expect(operator_name).toBe('Grace Hopper');
});
