import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createBatch } from '../../functions/data/batches/new-batches.ts';
import { listProjects } from '../../functions/data/rows/projects.ts';
import { Claims } from '../../functions/schemas/claims.ts';
import { ask } from '../support/ask.ts';
import { changeItem } from '../support/change-item.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { writeAll } from '../support/load-list.ts';
import { newBatch, newBatchRequest, uuid } from '../support/new-batch.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const db = testDb(client, names);
const { createBatches } = writeApi(db);

/** What a token says of projects: their ids, with the roles there. */
const tokenOf = (roles: Readonly<Record<string, string | undefined>>) => ({
  projects: JSON.stringify(Object.entries(roles).map(([id, role]) => ({ id, name: `name of ${id}`, role }))),
});
// biome-ignore lint/suspicious/noExplicitAny: openapi.json is their check
async function projectsOf(userId: string, claims: Record<string, string> = {}): Promise<any[]> {
  return (await ask('listProjects', { userId, claims, query: 'project_status=ACTIVE' })).data;
}
const newUser = () => `auth0|${randomUUID()}`;
const create = (userId: string, project_id: string, user_name?: string) =>
  createBatch(db, { userId, claims: { queue_priority: 'LOW', user_name } }, { ...newBatchRequest(1), project_id });

describe('GET /api/v1/projects', () => {
  it('lists the projects that the token names, otherwise the ones of the user’s batches', async () => {
    const user = newUser();
    expect(await projectsOf(user)).toEqual([]);
    await createBatches(user, [newBatch(1), newBatch(2), newBatch(4)]);
    const unbound = { role: null, rights: ['submit'] };
    const own = [uuid('c', 1), uuid('c', 2)].map((id) => ({ id, name: id, ...unbound }));
    expect(await projectsOf(user)).toEqual(own);
    const named = [{ id: uuid('c', 7), name: 'Mine' }];
    expect(await projectsOf(user, { projects: JSON.stringify(named) })).toEqual([{ ...named[0], ...unbound }]);
    expect(await projectsOf(user, { projects: '[]' })).toEqual([]);
    expect(await projectsOf(newUser())).toEqual([]);
  });

  it('shows who has batches in the projects in which the token gives a role, and how many', async () => {
    const [ada, bob, eve] = [`a ${newUser()}`, `b ${newUser()}`, `e ${newUser()}`];
    const [lab, club, secret, empty] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    for (const project_id of [lab, lab, club, lab]) await create(ada, project_id, 'Ada');
    await createBatches(bob, [newBatch(1, { project_id: lab })]);
    for (const project_id of [club, secret]) await create(eve, project_id, 'Eve');
    const member = (user_id: string, user_name: string | null, batches_count: number) => ({
      ...{ user_id, user_name, batches_count },
    });
    const rights = { viewer: ['read'], member: ['read', 'submit'], admin: ['read', 'submit', 'administer'] };
    const shown = (id: string, role: keyof typeof rights | null, members?: object[]) => ({
      ...{ id, name: `name of ${id}`, role, rights: role === null ? ['submit'] : rights[role] },
      ...(members && { members }),
    });
    const ofLab = [member(ada, 'Ada', 3), member(bob, null, 1)];
    const ofClub = [member(ada, 'Ada', 1), member(eve, 'Eve', 1)];
    const token = tokenOf({ [secret]: undefined, [lab]: 'viewer', [club]: 'admin', [empty]: 'member' });
    const all = [
      shown(secret, null),
      shown(lab, 'viewer', ofLab),
      shown(club, 'admin', ofClub),
      shown(empty, 'member', []),
    ];
    for (const user of [newUser(), bob]) expect(await projectsOf(user, token)).toEqual(all);
    // Who has batches in a project, and no role, sees what everyone saw before there were roles.
    expect(await projectsOf(eve, tokenOf({ [club]: undefined }))).toEqual([shown(club, null)]);
    expect((await projectsOf(eve)).map(({ role, members }) => [role, members])).toEqual([
      [null, undefined],
      [null, undefined],
    ]);
  });

  it('reads nothing more for tokens without roles, and for members what may be a moment old', async () => {
    const [user, project_id] = [newUser(), randomUUID()];
    await create(user, project_id, 'Ada');
    const read: unknown[] = [];
    const through = interceptedClient(client, (call) => {
      read.push([call.name, call.input.ConsistentRead]);
      return call.send();
    });
    const list = (token: Record<string, string>) => listProjects({ ...db, client: through }, user, Claims.parse(token));
    await list(tokenOf({ [project_id]: undefined }));
    expect(read).toEqual([]);
    await list({});
    expect(read.splice(0)).toEqual([['GetCommand', true]]);
    expect(await list(tokenOf({ [project_id]: 'viewer' }))).toMatchObject([{ members: [{ batches_count: 1 }] }]);
    expect(read).toEqual(Array(4).fill(['QueryCommand', false]));
  });

  it('counts no batches of more than 200 members, nor of one whose columns are being mended', async () => {
    const [user, large, small] = [newUser(), randomUUID(), randomUUID()];
    const contributors = Array.from({ length: 200 }, (_, at) => ({ project_id: large, user_id: `someone ${at}` }));
    await writeAll(
      client,
      contributors.map((item) => [names.Contributors, item] as const),
    );
    await create(user, small, 'Ada');
    const token = tokenOf({ [large]: 'member', [small]: 'member' });
    const countsOf = async () =>
      (await projectsOf(user, token)).map(({ members }) =>
        members.map(({ batches_count }: { batches_count: number | null }) => batches_count),
      );
    expect(await countsOf()).toEqual([Array(200).fill(0), [1]]);
    await create(user, large, 'Ada');
    expect(await countsOf()).toEqual([Array(201).fill(null), [1]]);
    const Key = { user_id: user, key: 'b#head' };
    await changeItem(client, names.Columns, { Key, attributes: { format: undefined } });
    expect(await countsOf()).toEqual([Array(201).fill(null), [null]]);
  });
});
