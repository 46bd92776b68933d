import { randomUUID } from 'node:crypto';
import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { cancelBatch } from '../../functions/data/batches/cancellations.ts';
import { createBatch } from '../../functions/data/batches/new-batches.ts';
import { changeLimits } from '../../functions/data/limits/limits-of-subjects.ts';
import { limitCounterKey, readLimitCounters } from '../../functions/data/limits/used-of-limits.ts';
import type { TableName } from '../../functions/tables.ts';
import { countInProjects } from '../../infra/repair/count-in-projects.ts';
import { repairCounters } from '../../infra/repair/repair-counters.ts';
import { dyingClient } from '../support/dying-client.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { newBatchRequest } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { recountOf } from '../support/owner-rows.ts';
import { testDb } from '../support/test-db.ts';

const [client, project_id] = [(await ownTables()).client, randomUUID()];
const [project, users] = [`project:${project_id}`, ['auth0|ada', 'auth0|bob']];
let db: ReturnType<typeof testDb<TableName>>;

const repair = (fix: boolean, through = client, userId?: string) =>
  repairCounters({ db: { ...db, client: through }, fix, userId });
const create = (userId: string, jobs: number, through = client) =>
  createBatch(
    { ...db, client: through },
    { userId, claims: { queue_priority: 'LOW' } },
    { ...newBatchRequest(jobs), project_id },
    async () => {},
  );
const counted = async (subject: string) => {
  const { max_unfinished_batches, max_unfinished_jobs, jobs_to_come } = (await readLimitCounters(db, [subject])).get(
    subject,
  )!;
  return [max_unfinished_batches, max_unfinished_jobs, jobs_to_come];
};
const setCounter = (subject: string, counts: object) =>
  client.send(
    new PutCommand({ TableName: db.tables.Counters, Item: { ...limitCounterKey(subject), rev: 7, ...counts } }),
  );

/** Two users of a project that is limited, of whom one had a call that died. */
beforeEach(async () => {
  db = testDb(client, (await ownTables()).tables);
  const limits = { max_unfinished_jobs: 1_000 };
  await changeLimits(db, { operator: 'op', subject: project, limits });
  await create(users[0]!, 3);
  const ended = await create(users[1]!, 2);
  await create(users[1]!, 1);
  await cancelBatch(db, { userId: users[1]!, batchId: ended.id });
  await expect(create(users[0]!, 200, dyingClient(client, 1).client)).rejects.toThrow('killed');
  expect(await counted(project)).toEqual([3, 204, 0]);
});

describe('countInProjects', () => {
  it('counts what is older than the first limit of its project and has not ended, once', async () => {
    const other = randomUUID();
    const createOf = (userId: string, jobs: number, project_id: string) =>
      createBatch(db, { userId, claims: { queue_priority: 'LOW' } }, { ...newBatchRequest(jobs), project_id });
    const first = await createOf(users[0]!, 3, other);
    const ended = await createOf(users[0]!, 1, other);
    await cancelBatch(db, { userId: users[0]!, batchId: ended.id });
    await createOf(users[1]!, 2, other);
    await createOf(users[1]!, 2, randomUUID());
    const count = (fix: boolean, userId?: string) => countInProjects({ db, fix, userId });
    expect(await count(true)).toBe(0);
    const limits = { max_unfinished_batches: 3, max_unfinished_jobs: 20 };
    await changeLimits(db, { operator: 'op', subject: `project:${other}`, limits });
    expect([await count(false), await count(false, users[1])]).toEqual([2, 1]);
    expect(await counted(`project:${other}`)).toEqual([0, 0, 0]);
    expect([await count(true), await count(true)]).toEqual([2, 0]);
    expect(await counted(`project:${other}`)).toEqual([2, 5, 0]);
    expect(await repair(false)).toEqual([]);
    await cancelBatch(db, { userId: users[0]!, batchId: first.id });
    expect(await counted(`project:${other}`)).toEqual([1, 2, 0]);
    for (const userId of users) expect(await recountOf(client, db.tables, userId)).toEqual([]);
  });
});

describe('repairCounters', () => {
  it('finds nothing to mend where nothing was changed by hand', async () => {
    expect(await repair(true)).toEqual([]);
  });

  it('names the counters that are off, and mends them: the limit holds again', async () => {
    const announced = await counted(`user:${users[0]}`);
    await setCounter(project, { max_unfinished_batches: -2, max_unfinished_jobs: 999, minute: 5, creations: 6 });
    await client.send(new DeleteCommand({ TableName: db.tables.Counters, Key: limitCounterKey(`user:${users[0]}`) }));
    await setCounter('project:of nothing', { max_unfinished_jobs: 4 });
    await expect(create(users[1]!, 5)).rejects.toMatchObject({ reason: 'limit_exceeded' });
    const differences = [
      {
        subject: project,
        found: { max_unfinished_batches: -2, max_unfinished_jobs: 999 },
        expected: { max_unfinished_batches: 3, max_unfinished_jobs: 204 },
      },
      { subject: `user:${users[0]}`, found: { jobs_to_come: 0 }, expected: { jobs_to_come: announced[2] } },
      { subject: 'project:of nothing', found: { max_unfinished_jobs: 4 }, expected: { max_unfinished_jobs: 0 } },
    ];
    expect(await repair(false)).toEqual(expect.arrayContaining(differences));
    expect(await repair(false, client, users[0])).toEqual([differences[1]]);
    expect(await repair(false, client, users[1])).toEqual([]);
    expect(await repair(true)).toHaveLength(differences.length);
    expect(await repair(false)).toEqual([]);
    expect(await counted(project)).toEqual([3, 204, 0]);
    // What does not follow from rows stays.
    expect((await readLimitCounters(db, [project])).get(project)).toMatchObject({ rev: 8, creations: 6 });
    await expect(create(users[1]!, 797)).rejects.toMatchObject({ details: { used: 204 } });
    await create(users[1]!, 5);
  });

  it.each([false, true])(
    'judges no counter that writers move meanwhile, and loses none of their rows: --fix %s',
    async (fix) => {
      if (fix) await setCounter(project, { max_unfinished_batches: 30, max_unfinished_jobs: 40 });
      let writes = 0;
      const meeting = interceptedClient(client, async ({ name, input, send }) => {
        const answer = await send();
        // Counters were read, rows are not yet counted; then they were.
        if (name === 'ScanCommand' && writes++ < 3) await create(users[0]!, 1);
        return { ...answer, input };
      });
      expect(await repair(fix, meeting)).toHaveLength(fix ? 1 : 0);
      expect(writes).toBeGreaterThan(3);
      expect(await counted(project)).toEqual([6, 207, 0]);
      expect(await repair(false)).toEqual([]);
    },
  );

  it('gives up on a counter that moves during each recount, and passes over rows that it cannot read', async () => {
    const busy = interceptedClient(client, async ({ name, send }) => {
      const answer = await send();
      if (name === 'ScanCommand') await create(users[0]!, 1);
      return answer;
    });
    expect(await repair(false, busy)).toEqual([]);
    await setCounter(project, { max_unfinished_jobs: 1 });
    const Item = { user_id: users[1], id: randomUUID(), project_id, counted_in_project: ['max_unfinished_jobs'] };
    await client.send(new PutCommand({ TableName: db.tables.Batches, Item }));
    expect(await repair(true)).toEqual([]);
    await client.send(new DeleteCommand({ TableName: db.tables.Batches, Key: { user_id: Item.user_id, id: Item.id } }));
    expect(await repair(true)).toHaveLength(1);
  });

  it('mends beside many writers', async () => {
    const writers = Array.from({ length: 4 }, async (_, at) => {
      for (let batches = 0; batches < 3; batches++) {
        const { id } = await create(users[at % 2]!, 1);
        if (batches % 2 === 0) await cancelBatch(db, { userId: users[at % 2]!, batchId: id });
      }
    });
    await client.send(
      new UpdateCommand({
        TableName: db.tables.Counters,
        Key: limitCounterKey(project),
        UpdateExpression: 'ADD max_unfinished_jobs :off',
        ExpressionAttributeValues: { ':off': -500 },
      }),
    );
    await Promise.all([...writers, repair(true)]);
    await repair(true);
    expect(await counted(project)).toEqual([7, 208, 0]);
    expect(await repair(false)).toEqual([]);
  });
});
