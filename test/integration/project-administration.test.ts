/** What administrators read of their projects, and operators of one batch. */

import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { changeLimits } from '../../functions/data/limits/limits-of-subjects.ts';
import { projectRoleNames } from '../../functions/project-roles.ts';
import { ask } from '../support/ask.ts';
import { auditRows } from '../support/audit-rows.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import type { GatewayRequest } from '../support/gateway-event.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const db = testDb(client, names);
const writer = writeApi(db);
const [project, other] = [uuid('c', 1), uuid('c', 2)];
const users = ['auth0|alice', 'auth0|bob'];

/** The administrator of the project, who only sees the other. */
const projects = [
  { id: project, name: 'The project', role: 'admin' },
  { id: other, name: 'Another', role: 'viewer' },
];
const admin = { userId: 'auth0|admin', claims: { projects: JSON.stringify(projects) } };
const operator = { userId: 'auth0|operator', scope: 'operator' };

beforeAll(async () => {
  for (const [at, userId] of users.entries()) {
    for (const [batch, project_id] of [project, other].entries()) {
      const number = 10 * at + batch;
      await writer.createBatch(userId, newBatch(number, { project_id, jobs: [newJob(number, { runs: 1 + number })] }));
      await writer.recordJobStatus(userId, newJob(number).id, { status: 'DONE' });
      await client.send(new PutCommand({ TableName: names.Contributors, Item: { project_id, user_id: userId } }));
    }
  }
  for (const subject of [`project:${project}`, `project:${other}`, 'user:auth0|alice']) {
    await changeLimits(db, { operator: 'auth0|operator', subject, limits: { max_unfinished_batches: 9 } });
  }
});

const refused = { status: 403, data: { reason: 'insufficient_scope' } };

describe('GET /api/v1/usage with a project', () => {
  const usage = (request: GatewayRequest) => ask('listUsage', request);
  const shots = async (query: Record<string, string>, who: GatewayRequest = admin) =>
    (await usage({ ...who, query })).data.total?.shots;

  it('sums the project of an administrator, by its users or of one', async () => {
    expect(await shots({ project_id: project })).toBe(1 + 11);
    expect(await shots({ project_id: project, user_id: users[1]! })).toBe(11);
    expect(await shots({ project_id: project, scope: 'own' })).toBe(0);
    const { data } = await usage({ ...admin, query: { project_id: project, group_by: ['user_id', 'project_id'] } });
    expect(data.rows.map((row: Record<string, unknown>) => [row.user_id, row.project_id])).toEqual(
      users.map((user) => [user, project]),
    );
    expect(await shots({ project_id: project.toUpperCase() })).toBe(12);
  });

  it('is refused to all others, about any project, but for their own usage there', async () => {
    for (const project_id of [other, uuid('c', 9)])
      expect(await usage({ ...admin, query: { project_id } })).toMatchObject(refused);
    for (const role of [undefined, ...projectRoleNames.filter((name) => name !== 'admin')]) {
      const claims = { projects: JSON.stringify([{ id: project, name: 'The project', role }]) };
      const who = { userId: users[0]!, claims };
      expect(await usage({ ...who, query: { project_id: project } })).toMatchObject(refused);
      expect(await usage({ ...who, query: { project_id: project, user_id: users[1]! } })).toMatchObject(refused);
      expect(await shots({ project_id: project, user_id: users[0]! }, who)).toBe(1);
    }
    expect(await usage({ ...admin, query: { project_id: 'x' } })).toMatchObject({ status: 422 });
  });

  it('does not let administrators read beyond the project', async () => {
    expect(await usage({ ...admin, query: { scope: 'all' } })).toMatchObject(refused);
    expect(await usage({ ...admin, query: { user_id: users[0]! } })).toMatchObject(refused);
  });

  it('sums any project for operators', async () => {
    expect(await shots({ project_id: other }, operator)).toBe(2 + 12);
    expect(await shots({ scope: 'all' }, operator)).toBe(1 + 2 + 11 + 12);
  });
});

describe('GET /api/v1/limits/{subject} with a project', () => {
  const limits = (subject: string, who: GatewayRequest = admin) => ask('getLimits', { ...who, path: { subject } });

  it('is answered to its administrators, and to operators', async () => {
    const wanted = { status: 200, data: { subject: `project:${project}`, limits: { max_unfinished_batches: 9 } } };
    expect(await limits(`project:${project}`)).toMatchObject(wanted);
    expect(await limits(`project:${project.toUpperCase()}`)).toMatchObject(wanted);
    expect(await limits(`project:${project}`, operator)).toMatchObject(wanted);
  });

  it('is refused for any other subject, and they cannot set it', async () => {
    for (const subject of [
      `project:${other}`,
      'user:auth0|alice',
      `user:${admin.userId}`,
      'default',
      `user:${project}`,
    ]) {
      expect(await limits(subject), subject).toMatchObject(refused);
    }
    const path = { subject: `project:${project}` };
    for (const route of ['putLimits', 'deleteLimits', 'listLimits'] as const) {
      expect(await ask(route, { ...admin, path, body: {} }), route).toMatchObject(refused);
    }
  });
});

describe('GET /api/v1/audit with a project', () => {
  const audit = async (query: GatewayRequest['query'], who: GatewayRequest = admin) => {
    const { status, data, pagination } = await ask('listAudit', { ...who, query: query! });
    return { status, data, total: pagination?.total };
  };

  it('lists what operators and administrators did about it, and nothing else', async () => {
    const [batch, elsewhere] = [uuid('b', 50), uuid('b', 51)];
    await writer.createBatch(users[0]!, newBatch(50, { project_id: project, jobs: [newJob(50)] }));
    await writer.createBatch(users[0]!, newBatch(51, { project_id: other, jobs: [newJob(51)] }));
    for (const batch_id of [batch, elsewhere]) {
      const path = { user_id: users[0]!, batch_id };
      await ask('cancelBatchOfUser', { ...operator, path, body: { reason: 'why' } });
      await ask('getBatchOfUser', { ...operator, path });
    }
    const { status, data, total } = await audit({ project_id: project });
    expect(status).toBe(200);
    const ofProject = data.map(({ action, target }: { action: string; target: object }) => [action, target]);
    const target = { user_id: users[0], batch_id: batch, project_id: project, device_type: 'EMU_MPS' };
    expect(ofProject).toEqual([
      ['batch.read', target],
      ['batch.cancel', target],
      ['limits.put', { subject: `project:${project}`, project_id: project }],
    ]);
    expect(total).toBe(3);
    expect((await audit({ project_id: project }, operator)).data).toEqual(data);
    expect((await audit({ project_id: [project, other] }, operator)).total).toBe(6);
    expect((await audit({}, operator)).total).toBe(7);
  });

  it('is refused where the request names no project, or one that they do not administer', async () => {
    for (const query of [{}, { project_id: other }, { project_id: [project, other] }, { user_id: users[0]! }]) {
      expect(await audit(query), JSON.stringify(query)).toMatchObject(refused);
    }
    expect((await audit({ project_id: 'x' })).status).toBe(422);
  });
});

describe('GET /api/v1/users/{user_id}/batches/{batch_id}', () => {
  const read = (batch_id: string, user_id = users[1]!, who: GatewayRequest = operator) =>
    ask('getBatchOfUser', { ...who, path: { user_id, batch_id } });
  const reads = async () => (await auditRows(client, names)).filter(({ action }) => action === 'batch.read');

  it('shows an operator the batch as its owner sees it, without results, and is audited each time', async () => {
    await writer.createBatch(users[1]!, newBatch(60, { project_id: project, jobs: [newJob(60), newJob(61)] }));
    const results_key = `results/${users[1]}/${newJob(60).id}.json`;
    await writer.recordJobStatus(users[1]!, newJob(60).id, { status: 'ERROR', errors: ['why'], results_key });
    const before = (await reads()).length;
    const { status, data } = await read(uuid('b', 60));
    expect(status).toBe(200);
    const ofOwner = await ask('getBatch', { userId: users[1]!, path: { batch_id: uuid('b', 60) } });
    const { rights, ...shown } = ofOwner.data;
    expect([data, rights]).toEqual([shown, ['read', 'repeat', 'end', 'change']]);
    expect(data.jobs.map(({ errors }: { errors: unknown }) => errors)).toEqual([['why'], null]);
    expect(JSON.stringify(data)).not.toContain('results');
    await read(uuid('b', 60));
    const entries = (await reads()).slice(before);
    const target = { user_id: users[1], batch_id: uuid('b', 60), project_id: project, device_type: 'EMU_MPS' };
    expect(entries).toMatchObject(
      [1, 2].map(() => ({ operator: operator.userId, target, reason: null, before: null, after: null })),
    );
    expect(entries).toHaveLength(2);
  });

  it('writes nothing for what the user does not have, and is for operators alone', async () => {
    const before = await reads();
    for (const [batch, user] of [
      [uuid('b', 99), users[1]!],
      [uuid('b', 60), users[0]!],
      [uuid('b', 60), `${users[1]} `],
    ] as const) {
      expect(await read(batch, user)).toMatchObject({ status: 404, data: { reason: 'not_found' } });
    }
    for (const who of [admin, { userId: users[1]! }, { userId: 'device', scope: 'device:*' }]) {
      expect(await read(uuid('b', 60), users[1]!, who)).toMatchObject(refused);
    }
    expect(await reads()).toEqual(before);
  });
});
