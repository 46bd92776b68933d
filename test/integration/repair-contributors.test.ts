import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { createBatch } from '../../functions/data/batches/new-batches.ts';
import type { TableName } from '../../functions/tables.ts';
import { repairContributors } from '../../infra/repair/repair-contributors.ts';
import { repairUser } from '../../infra/repair/repair-user.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { contributorItems, itemsOfOwner } from '../support/items-of-owner.ts';
import { newBatchRequest, uuid } from '../support/new-batch.ts';
import { overtakenClient } from '../support/overtaken-client.ts';
import { ownTables } from '../support/own-tables.ts';
import { soundRows } from '../support/owner-rows.ts';
import { testDb } from '../support/test-db.ts';

const [ada, bob, nobody] = ['auth0|ada', 'auth0|bob', 'auth0|nobody'];
const { client } = await ownTables();
let db: ReturnType<typeof testDb<TableName>>;

const project = (number: number) => uuid('c', number);
const create = (userId: string, number: number, user_name?: string, through = client) =>
  createBatch(
    { ...db, client: through },
    { userId, claims: { queue_priority: 'LOW', user_name } },
    { ...newBatchRequest(1), project_id: project(number) },
  );
const repair = (fix: boolean, through = client, userId?: string) =>
  repairContributors({
    db: { ...db, client: through },
    fix,
    users: userId === undefined ? [ada, bob] : [userId],
    userId,
  });
const put = (user_id: string, number: number, content: object = {}) =>
  client.send(
    new PutCommand({ TableName: db.tables.Contributors, Item: { project_id: project(number), user_id, ...content } }),
  );
const remove = (user_id: string, number: number) =>
  client.send(new DeleteCommand({ TableName: db.tables.Contributors, Key: { project_id: project(number), user_id } }));
async function namesIn(userId: string): Promise<Record<number, string | null>> {
  const items = await contributorItems(client, db.tables.Contributors, userId);
  return Object.fromEntries(items.map(({ project_id, user_name = null }) => [Number(project_id.slice(-3)), user_name]));
}
const unknown = (userId: string, number: number) => ({
  ...{ userId, projectId: project(number), reason: 'does not know the user' },
});
const superfluous = (userId: string, number: number) => ({
  ...{ userId, projectId: project(number), reason: 'knows the user, who has no batch there' },
});

/** Ada has batches in two projects, Bob, who has no name, in one. */
beforeEach(async () => {
  db = testDb(client, (await ownTables()).tables);
  for (const number of [1, 2]) await create(ada, number, 'Ada');
  await create(bob, 1);
});

describe('repairContributors', () => {
  it('finds nothing to mend where nothing was changed by hand, and its users sound', async () => {
    expect(await repair(true)).toEqual([]);
    expect([await namesIn(ada), await namesIn(bob)]).toEqual([{ 1: 'Ada', 2: 'Ada' }, { 1: null }]);
    for (const userId of [ada, bob]) await soundRows(client, db.tables, userId);
  });

  it('names what is off, and mends it: names that are there stay, the next call with one writes the others', async () => {
    await remove(ada, 2);
    await remove(bob, 1);
    await put(bob, 3, { user_name: 'Bob' });
    await put(nobody, 1);
    const all = [unknown(ada, 2), unknown(bob, 1), superfluous(bob, 3), superfluous(nobody, 1)];
    const found = await repair(false);
    expect(found).toHaveLength(all.length);
    expect(found).toEqual(expect.arrayContaining(all));
    expect(await repair(false, client, ada)).toEqual([all[0]]);
    expect(await repair(true)).toHaveLength(all.length);
    expect(await repair(false)).toEqual([]);
    expect(await namesIn(ada)).toEqual({ 1: 'Ada', 2: null });
    expect([await namesIn(bob), await namesIn(nobody)]).toEqual([{ 1: null }, {}]);
    await create(ada, 1, 'Ada');
    expect(await namesIn(ada)).toEqual({ 1: 'Ada', 2: 'Ada' });
  });

  it('deletes nothing of a user whose head is lost or broken, until the head is mended', async () => {
    const Key = { user_id: ada, key: 'b#head' };
    await client.send(new DeleteCommand({ TableName: db.tables.Columns, Key }));
    expect(await repair(true)).toEqual([]);
    await client.send(new PutCommand({ TableName: db.tables.Columns, Item: { ...Key, next_seq: 'broken' } }));
    expect(await repair(true)).toEqual([]);
    expect(await namesIn(ada)).toEqual({ 1: 'Ada', 2: 'Ada' });
    expect((await repairUser({ db, userId: ada }, { fix: true })).remaining).toEqual([]);
    expect(await repair(false)).toEqual([]);
  });

  it('keeps the tag of the name in a head that is rebuilt', async () => {
    const item = async () => (await itemsOfOwner(client, db.tables.Columns, ada)).find(({ key }) => key === 'b#head')!;
    const before = await item();
    expect(before.n).toHaveLength(4);
    await client.send(new PutCommand({ TableName: db.tables.Columns, Item: { ...before, next_seq: 7 } }));
    expect((await repairUser({ db, userId: ada }, { fix: true })).differences).toHaveLength(1);
    expect(await item()).toEqual(before);
  });

  it.each([
    ['keeps an item whose user begins to work there meanwhile', () => create(bob, 3, 'Bob'), { 1: 'Bob', 3: 'Bob' }],
    ['deletes one whose user only works elsewhere', () => create(bob, 1), { 1: null }],
  ])('%s', async (_, meanwhile, expected) => {
    await put(bob, 3, { user_name: 'Bob' });
    const overtaken = overtakenClient(client, meanwhile);
    await repair(true, overtaken.client);
    expect(overtaken.isOvertaken).toBe(true);
    expect(await namesIn(bob)).toEqual(expected);
    await soundRows(client, db.tables, bob);
  });

  it('adds no item whose user was given it meanwhile, or a call that had read the tag before', async () => {
    await remove(ada, 2);
    const renamed = overtakenClient(client, () => create(ada, 1, 'Ada King'));
    await repair(true, renamed.client);
    expect(await namesIn(ada)).toEqual({ 1: 'Ada King', 2: 'Ada King' });
    await remove(ada, 2);
    // The call has read a head that knows its name: it must not write that tag back.
    const repaired = overtakenClient(client, () => repair(true));
    await create(ada, 1, 'Ada King', repaired.client);
    expect(await namesIn(ada)).toEqual({ 1: 'Ada King', 2: 'Ada King' });
  });

  it('reports no item as missing that is written while it looks', async () => {
    let isWritten = false;
    const through = interceptedClient(client, async (call) => {
      const answer = await call.send();
      if (call.name === 'ScanCommand' && !isWritten) {
        isWritten = true;
        await create(bob, 2, 'Bob');
      }
      return answer;
    });
    expect(await repair(false, through)).toEqual([]);
    expect(isWritten).toBe(true);
  });
});
