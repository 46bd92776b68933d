import { PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { batchList, jobList } from '../../functions/data/columns/lists.ts';
import { countBatches, listBatches } from '../../functions/data/rows/batches.ts';
import { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import { ask } from '../support/ask.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { loadList, writeAll } from '../support/load-list.ts';
import { measuredClient } from '../support/measured-client.ts';
import { uuid } from '../support/new-batch.ts';
import { batchRows, jobRows, projectIds } from '../support/random-rows.ts';
import { testClient } from '../support/test-client.ts';
import { testDb } from '../support/test-db.ts';

const { client, names } = await functionEnvironment();
const db = testDb(client, names);
const [shared, closed, crowded] = projectIds as [string, string, string];

const sample = <Value>(rows: fc.Arbitrary<Value>, seed: number) => fc.sample(rows, { numRuns: 1, seed })[0] as Value;
const [ann, bob, eve] = ['ann', 'bob', 'eve'].map((user, at) => {
  const inProjects = <Row extends object>(row: Row, seq: number) => ({ ...row, project_id: seq % 3 ? shared : closed });
  const batches = sample(batchRows(user, 60), at + 1).map(inProjects);
  const jobs = sample(jobRows(user, [batches[0]!.id, batches[1]!.id], 50), at + 5).map(inProjects);
  return { user, batches, jobs };
}) as unknown as [Owner, Owner, Owner];
interface Owner {
  readonly user: string;
  readonly batches: readonly { readonly id: string; readonly project_id: string; readonly created_at: string }[];
  readonly jobs: readonly { readonly id: string; readonly project_id: string }[];
}
const inShared = ({ batches }: Owner) => batches.filter(({ project_id }) => project_id === shared);

beforeAll(async () => {
  for (const { user, batches, jobs } of [ann, bob, eve]) {
    await loadList(client, names, { list: batchList, userId: user, rows: batches as never });
    await loadList(client, names, { list: jobList, userId: user, rows: jobs as never });
    for (const project_id of [shared, closed]) {
      const Item = { project_id, user_id: user, ...(user !== 'eve' && { user_name: `Dr ${user}` }) };
      await client.send(new PutCommand({ TableName: names.Contributors, Item }));
    }
  }
  const crowd = Array.from({ length: 201 }, (_, at) => ({ project_id: crowded, user_id: `user ${at}` }));
  await writeAll(
    client,
    crowd.map((item) => [names.Contributors, item] as const),
  );
});

const projectsOf = (roles: Readonly<Record<string, string | undefined>>) => ({
  projects: JSON.stringify(Object.entries(roles).map(([id, role]) => ({ id, name: id, ...(role && { role }) }))),
});
const asViewer = projectsOf({ [shared]: 'viewer' });

function list(query: string, { userId = 'ann', claims = asViewer }: { userId?: string; claims?: object } = {}) {
  return ask('listBatches', { userId, query, claims: claims as Record<string, string> });
}

describe('a list with a role in a project', () => {
  it('has own rows without more, and asks nothing about others', async () => {
    const measured = testClient(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '');
    const measure = measuredClient(measured);
    const query = BatchListQuery.parse({ status: ['DONE'] });
    const callOf = (projects: object) => () =>
      listBatches(testDb(measured, names), { userId: 'ann', claims: projects }, query);
    const without = await measure(callOf({}));
    const withRole = await measure(callOf({ projects: [{ id: shared, name: 'Shared', role: 'admin' }] }));
    expect(withRole.value).toEqual(without.value);
    expect(withRole.cost).toEqual(without.cost);
    expect(withRole.value.items.every(({ user_id }) => user_id === 'ann')).toBe(true);
  });

  it('has the rows of all members with `scope=project`, each with the name of its owner', async () => {
    const { data, pagination } = await list('scope=project&limit=100&order_by=created_at');
    expect(pagination.total).toBe(3 * inShared(ann).length);
    const named = new Set(
      data.map((row: Record<string, unknown>) => `${row.user_id} ${row.user_name} ${row.project_id}`),
    );
    expect(named).toEqual(new Set([`ann null ${shared}`, `bob Dr bob ${shared}`, `eve null ${shared}`]));
    const ownByToken = await list('limit=1', { claims: { ...asViewer, user_name: 'Ann A.' } });
    expect(ownByToken.data[0].user_name).toBe('Ann A.');
  });

  it('has fellows by `user_id`, and of them only rows of its projects', async () => {
    const both = await list('user_id=ann&user_id=bob&limit=100');
    expect(both.pagination.total).toBe(ann.batches.length + inShared(bob).length);
    const one = await list('user_id=bob&limit=100');
    expect(one.data.map((row: { id: string }) => row.id).sort()).toEqual(
      inShared(bob)
        .map(({ id }) => id)
        .sort(),
    );
    const jobs = await ask('listJobs', { userId: 'ann', claims: asViewer, query: 'user_id=bob&limit=100' });
    expect(jobs.pagination.total).toBe(bob.jobs.filter(({ project_id }) => project_id === shared).length);
  });

  it.each([
    ['in creation order', {}],
    ['by a time, filtered', { status: ['DONE'], order_by: ['updated_at'] }],
    ['by status, in the middle', { order_by: ['status'], offset: ['40'], limit: ['20'] }],
    ['by a tag', { tag: ['calibration'] }],
  ])('takes few units and steps for each member: %s', async (_, parameters) => {
    const measured = testClient(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '');
    const measure = measuredClient(measured);
    const query = BatchListQuery.parse({ ...parameters, scope: ['project'] });
    const projects = [{ id: shared, name: 'Shared', role: 'viewer' as const }];
    const { cost } = await measure(() =>
      listBatches(testDb(measured, names), { userId: 'ann', claims: { projects } }, query),
    );
    // Contributors; of each member the head, two columns with summaries, times, and its 60 rows.
    expect(cost.readUnits).toBeLessThanOrEqual(0.5 + 3 * (0.5 + 2 * 1 + 0.5 + 60 * 0.15));
    expect(cost.depth).toBeLessThanOrEqual(4);
  });

  it('counts by status what it lists', async () => {
    const { pagination } = await list('scope=project&count_by=status');
    const sum = Object.values<number>(pagination.counts).reduce((total, count) => total + count, 0);
    expect(sum).toBe(3 * inShared(ann).length);
    const { pagination: done } = await list('scope=project&status=DONE');
    expect(pagination.counts.DONE).toBe(done.total);
  });

  it.each([
    ['a project without a role there', `scope=project&project_id=${closed}`, asViewer],
    ['a project that the token names without a role', 'scope=project', projectsOf({ [shared]: undefined })],
    ['no project', 'scope=project', {}],
    ['an unknown role', 'user_id=bob', projectsOf({ [shared]: undefined })],
    ['a user who has nothing in the project', 'user_id=nobody', asViewer],
    ['a user whom only another project knows', 'user_id=bob', projectsOf({ [crowded]: 'admin' })],
  ])('has nothing of %s', async (_, query, claims) => {
    const { status, data, pagination } = await list(query, { claims });
    expect({ status, data, total: pagination.total }).toEqual({ status: 200, data: [], total: 0 });
  });

  it('refuses more owners than it reads, unless some are named', async () => {
    const claims = projectsOf({ [crowded]: 'viewer' });
    const { status, detail } = await list('scope=project', { claims });
    expect({ status, loc: detail[0].loc }).toEqual({ status: 422, loc: ['query', 'user_id'] });
    expect((await list('scope=project&user_id=ann&user_id=bob', { claims })).pagination.total).toBe(0);
  });

  it('refuses more ids than it looks up for each owner', async () => {
    const ids = (count: number) => Array.from({ length: count }, (_, at) => `id=${uuid('a', at)}`).join('&');
    const claims = projectsOf({ [crowded]: 'viewer' });
    const owners = Array.from({ length: 40 }, (_, at) => `user_id=user ${at}`).join('&');
    const { status, detail } = await list(`${owners}&${ids(100)}`, { claims });
    expect({ status, loc: detail[0].loc }).toEqual({ status: 422, loc: ['query', 'id'] });
    expect((await list(`${owners}&${ids(50)}`, { claims })).pagination.total).toBe(0);
    expect((await list(ids(100))).pagination.total).toBe(0);
  });

  it('refuses another scope', async () => {
    expect((await list('scope=all')).status).toBe(422);
  });
});

describe('a list over members while reads lag', () => {
  const projects = [{ id: shared, name: 'Shared', role: 'viewer' as const }];
  const caller = { userId: 'ann', claims: { projects } };
  const query = BatchListQuery.parse({ scope: ['project'], limit: ['20'] });
  const through = (intercept: (call: Call) => Promise<Record<string, unknown>>) =>
    listBatches({ ...db, client: interceptedClient(client, intercept) }, caller, query);
  const isEventual = ({ input }: Call) => input.ConsistentRead !== true;

  it('is complete although rows, and entries of the time index, are missing at first', async () => {
    const expected = await listBatches(db, caller, query);
    let lags = 0;
    const found = await through(async (call) => {
      const answer = await call.send();
      const values = JSON.stringify(call.input.ExpressionAttributeValues ?? '');
      if (!isEventual(call) || !(call.input.IndexName !== undefined || values.includes('#times#'))) return answer;
      lags++;
      return { ...answer, Items: ((answer.Items ?? []) as unknown[]).slice(1) };
    });
    expect(lags).toBeGreaterThan(0);
    expect(found).toEqual(expected);
  });

  it('reads few owners at once, however many there are', async () => {
    const owners = new Set<unknown>();
    let [underWay, most] = [0, 0];
    const counted = interceptedClient(client, async ({ input, send }) => {
      for (const value of [...Object.values((input.Key ?? input.ExpressionAttributeValues ?? {}) as object)])
        if (String(value).startsWith('user ')) owners.add(value);
      most = Math.max(most, ++underWay);
      return send().finally(() => underWay--);
    });
    const claims = { projects: [{ id: crowded, name: 'Crowded', role: 'viewer' as const }] };
    const user_id = Array.from({ length: 90 }, (_, at) => `user ${at}`);
    for (const list of [listBatches, countBatches]) {
      owners.clear();
      const ofCrowd = BatchListQuery.parse({ user_id, status: ['DONE'] });
      await list({ ...db, client: counted }, { userId: 'ann', claims }, ofCrowd);
      expect(owners.size).toBe(90);
    }
    // 25 owners, with up to four calls each.
    expect(most).toBeLessThanOrEqual(100);
  });

  it('never holds a row that contradicts its columns', async () => {
    const found = await through(async (call) => {
      const answer = await call.send();
      if (call.input.IndexName === undefined) return answer;
      const Items = ((answer.Items ?? []) as Record<string, unknown>[]).map((item) => ({
        ...item,
        project_id: closed,
      }));
      return { ...answer, Items };
    });
    expect(found.items.every(({ project_id }) => project_id === shared)).toBe(true);
    expect(found.items).toHaveLength(20);
  });
});
