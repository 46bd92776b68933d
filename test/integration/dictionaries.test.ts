/** Users of many projects and device types: their texts leave the head for blocks of their own. */

import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '../../functions/data/columns/column-items.ts';
import { batchList } from '../../functions/data/columns/lists.ts';
import { listBatches } from '../../functions/data/rows/batches.ts';
import { listJobs } from '../../functions/data/rows/jobs.ts';
import { listProjects } from '../../functions/data/rows/projects.ts';
import { CorruptData, LimitExceeded, OutdatedColumns } from '../../functions/errors.ts';
import { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import type { Claims } from '../../functions/schemas/claims.ts';
import { JobListQuery } from '../../functions/schemas/job-list-query.ts';
import type { NewBatch } from '../../functions/schemas/new-batch.ts';
import { repairUser } from '../../infra/repair/repair-user.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { answerOf, listOf } from '../support/list-oracle.ts';
import { loadList } from '../support/load-list.ts';
import { measuredClient } from '../support/measured-client.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { overtakenClient } from '../support/overtaken-client.ts';
import { ownTables } from '../support/own-tables.ts';
import { batchesAndJobs, ownerRows, recountOf } from '../support/owner-rows.ts';
import { batchRows } from '../support/random-rows.ts';
import { smallLists } from '../support/small-lists.ts';
import { countingClient } from '../support/strike-each.ts';
import { testClient } from '../support/test-client.ts';
import { testDb } from '../support/test-db.ts';
import { withoutRole } from '../support/without-role.ts';
import { writeApi } from '../support/write-api.ts';

const { client, tables } = await ownTables();
const db = testDb(client, tables);

const project = (number: number) => uuid('c', number);

/** Two texts are a block. */
const rowsPerBlock = 3;
const small = testDb(client, tables, { formats: smallLists(rowsPerBlock) });
const writerOf = (through = client) => writeApi({ ...small, client: through });
const batchesOf = (userId: string, parameters: object, through = client) =>
  listBatches({ ...small, client: through }, withoutRole(userId), BatchListQuery.parse(parameters));
const isReadOfTexts = ({ name, input }: Call) =>
  name === 'QueryCommand' && JSON.stringify(input.ExpressionAttributeValues).includes('#texts#');

/** Creates `count` batches. Each has a project of its own, and a job. */
async function createBatches(userId: string, count: number) {
  const batches = Array.from({ length: count }, (_, number) =>
    newBatch(number, { project_id: project(number), jobs: [newJob(number)] }),
  );
  for (const batch of batches) await writerOf().createBatch(userId, batch);
  return batches;
}

async function expectSound(userId: string) {
  expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
  const { batches, jobs } = await batchesAndJobs(client, tables, userId);
  const projects = new Set(batches.map(({ project_id }) => project_id));
  const types = new Set(batches.map(({ device_type }) => device_type));
  const ofProjects = [...projects].map((each) => ({ project_id: [each] }));
  for (const parameters of [...ofProjects, ...[...types].map((each) => ({ device_type: [each] }))]) {
    const query = BatchListQuery.parse(parameters);
    expect(answerOf(await listBatches(small, withoutRole(userId), query))).toEqual(listOf(batches, query as never));
  }
  for (const project_id of projects) {
    const query = JobListQuery.parse({ project_id: [project_id] });
    expect(answerOf(await listJobs(small, withoutRole(userId), query))).toEqual(listOf(jobs, query as never));
  }
}

describe('creations with new texts', () => {
  it('by many writers at once give every text one number, and fill every block once', async () => {
    const userId = 'many writers';
    const numbers = Array.from({ length: 12 }, (_, number) => number);
    await Promise.all(
      numbers.map((number) =>
        writerOf().createBatch(
          userId,
          // Some bring the same texts.
          newBatch(number, { project_id: project(number % 7), device_type: `D${number % 5}`, jobs: [newJob(number)] }),
        ),
      ),
    );
    await expectSound(userId);
    const { columns } = await ownerRows(client, tables, userId);
    expect(columns['b#head']).toMatchObject({ dictionary_blocks: { project_id: 3, device_type: 2 } });
    expect(columns['j#head']).toMatchObject({ dictionary_blocks: { project_id: 3 } });
    expect(Object.keys(columns).filter((key) => key.startsWith('b#texts#'))).toHaveLength(5);
  });

  it('take both texts if one fills a block while the other is under way', async () => {
    const userId = 'overtaken';
    await createBatches(userId, 1);
    const overtaken = overtakenClient(client, ({ input }) => {
      expect(JSON.stringify(input)).toContain('b#texts#project_id#0000000');
      return writerOf().createBatch(userId, newBatch(8, { project_id: project(8) }));
    });
    await writerOf(overtaken.client).createBatch(userId, newBatch(9, { project_id: project(9) }));
    expect(overtaken.isOvertaken).toBe(true);
    await expectSound(userId);
    const projects = (await batchesAndJobs(client, tables, userId)).batches.map(({ project_id }) => project_id);
    expect(projects).toEqual([0, 8, 9].map(project));
  });

  it.each<[string, Record<string, unknown>]>([
    ['the format', { format: 'gone' }],
    ['the texts', { dictionaries: { project_id: [project(77)], device_type: ['EMU_MPS'] } }],
  ])('are decided again where a repair has changed %s alone meanwhile', async (what, change) => {
    const userId = `repaired ${what}`;
    await createBatches(userId, 1);
    const head = (await ownerRows(client, tables, userId)).columns['b#head'];
    let attempts = 0;
    const repaired = interceptedClient(client, async (call) => {
      if (call.name === 'TransactWriteCommand' && attempts++ === 0)
        await client.send(new PutCommand({ TableName: tables.Columns, Item: { ...head, ...change } }));
      return call.send();
    });
    const outcome = await writerOf(repaired)
      .createBatch(userId, newBatch(9, { project_id: project(9) }))
      .catch(String);
    const { columns } = await ownerRows(client, tables, userId);
    if ('format' in change) {
      expect(outcome).toMatch('OutdatedColumns');
      expect(columns['b#head']).toEqual({ ...head, ...change });
    } else {
      expect(attempts).toBe(2);
      expect(JSON.parse(Buffer.from(columns['b#texts#project_id#0000000']!.v as Uint8Array).toString())).toEqual([
        project(77),
        project(9),
      ]);
    }
  });

  it('in one transaction fill several blocks, and share transactions only as far as these hold them', async () => {
    const userId = 'many texts';
    const batches = Array.from({ length: 70 }, (_, number) =>
      newBatch(number, { project_id: project(number), device_type: `D${number}` }),
    );
    const counting = countingClient(client);
    await writerOf(counting.client).createBatches(userId, batches);
    const transactions = counting.made.filter((name) => name === 'TransactWriteCommand').length;
    expect(transactions).toBeGreaterThan(1);
    expect(transactions).toBeLessThan(10);
    const { columns } = await ownerRows(client, tables, userId);
    expect(columns['b#head']).toMatchObject({ dictionary_blocks: { project_id: 35, device_type: 35 } });
    expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
  });
});

describe('texts in blocks', () => {
  it('are read again where an answer lacks the newest block', async () => {
    const userId = 'lagging';
    const batches = await createBatches(userId, 6);
    const consistency: unknown[] = [];
    const lagging = interceptedClient(client, async (call) => {
      const output = await call.send();
      if (!isReadOfTexts(call)) return output;
      consistency.push(call.input.ConsistentRead);
      return call.input.ConsistentRead === true
        ? output
        : { ...output, Items: (output.Items as object[]).slice(0, -1) };
    });
    const { items } = await batchesOf(userId, { project_id: [project(5)] }, lagging);
    expect(items.map(({ id }) => id)).toEqual([batches[5]!.id]);
    expect(consistency).toEqual([false, true]);
  });

  it('that are newer than the head are left out', async () => {
    const userId = 'newer';
    await createBatches(userId, 3);
    let isLate = true;
    const late = interceptedClient(client, async (call) => {
      if (isReadOfTexts(call) && isLate) {
        isLate = false;
        for (const number of [3, 4])
          await writerOf().createBatch(userId, newBatch(number, { project_id: project(number) }));
      }
      return call.send();
    });
    const { total } = await batchesOf(userId, { project_id: [project(2)] }, late);
    expect({ total, isLate }).toEqual({ total: 1, isLate: false });
  });

  it('that are lost stop the calls that need them, no others, until a repair finds them again', async () => {
    const userId = 'lost';
    const batches = await createBatches(userId, 5);
    const sound = await ownerRows(client, tables, userId);
    const key = 'b#texts#project_id#0000001';
    await client.send(new DeleteCommand({ TableName: tables.Columns, Key: { user_id: userId, key } }));
    const lost = /Texts of a user's Batches are missing: npm run repair -- --fix/;
    await expect(batchesOf(userId, { project_id: [project(0)] })).rejects.toThrow(CorruptData);
    await expect(batchesOf(userId, { status: ['PENDING'] })).rejects.toThrow(lost);
    await expect(listProjects(db, userId, noClaims)).rejects.toThrow(lost);
    await expect(writerOf().createBatch(userId, newBatch(7))).rejects.toThrow(lost);
    await expect(writerOf().setTags(userId, batches[0]!.id, ['a'])).rejects.toThrow(lost);
    expect((await batchesOf(userId, {})).total).toBe(5);
    expect((await batchesOf(userId, { order_by: ['updated_at'] })).total).toBe(5);
    expect(await ownerRows(client, tables, userId)).toMatchObject({ batches: sound.batches, jobs: sound.jobs });
    const { differences, remaining } = await repairUser({ db: small, userId }, { fix: true });
    expect(differences).toMatchObject([{ kind: 'block', key }]);
    expect(remaining).toEqual([]);
    expect(await ownerRows(client, tables, userId)).toEqual(sound);
    await writerOf().createBatch(userId, newBatch(7));
    await expectSound(userId);
  });
});

const noClaims = {} as Claims;

describe('a user of 4,096 projects', () => {
  const [most, manager, beginner] = [4_096, 'auth0|manager', 'auth0|beginner'];
  const measured = testClient(dynamodbEndpoint);
  const measure = measuredClient(measured);
  const creations = batchList.rowsInTail;

  /** The mean of as many creations as move rows from the tail to the blocks once. */
  async function unitsOfCreation(userId: string, firstId: number, contentOf: (at: number) => Partial<NewBatch>) {
    const { createBatch } = writeApi({ ...db, client: measured });
    const { cost } = await measure(async () => {
      for (let at = 0; at < creations; at++) {
        await createBatch(userId, newBatch(firstId + at, { device_type: 'FRESNEL', ...contentOf(at) }));
      }
    });
    return { writes: cost.writeUnits / creations, reads: cost.readUnits / creations };
  }

  beforeAll(async () => {
    const [rows = []] = fc.sample(batchRows(manager, most - creations), { numRuns: 1, seed: 7 });
    const load = (userId: string, loaded: readonly Row[]) =>
      loadList(client, tables, { list: batchList, userId, rows: loaded, only: new Set() });
    await load(
      manager,
      rows.map((row, seq) => ({ ...row, project_id: project(seq) })),
    );
    await load(
      beginner,
      rows.slice(0, 160).map((row) => ({ ...row, project_id: project(0), device_type: 'FRESNEL' })),
    );
  });

  it('creates batches of known and of new projects at about the cost of a user of one', async () => {
    const small = await unitsOfCreation(beginner, 1_000, () => ({ project_id: project(0) }));
    const ofNew = await unitsOfCreation(manager, 2_000, (at) => ({ project_id: project(most - creations + at) }));
    const ofKnown = await unitsOfCreation(manager, 3_000, (at) => ({ project_id: project(at * 7) }));
    // The head of 16 texts takes 2 KB instead of 1 KB, two units each in a transaction. A new
    // project takes two, while the head has few texts; once in 24 projects a block is written.
    expect(ofNew.writes).toBeLessThanOrEqual(small.writes + 2.5);
    expect(ofKnown.writes).toBeLessThanOrEqual(small.writes + 2);
    // All texts, about 43 bytes each, strongly consistent.
    for (const { reads } of [ofNew, ofKnown]) expect(reads).toBeLessThanOrEqual(small.reads + 44);
    await expect(writerOf().createBatch(manager, newBatch(1))).rejects.toThrow(OutdatedColumns);
    const { createBatch } = writeApi(db);
    await expect(createBatch(manager, newBatch(1, { project_id: project(most) }))).rejects.toThrow(LimitExceeded);
    const projects = await listProjects(db, manager, noClaims);
    expect(projects.map(({ id }) => id)).toEqual(Array.from({ length: most }, (_, number) => project(number)));
    expect(await listProjects(db, beginner, noClaims)).toMatchObject([{ id: project(0), name: project(0) }]);
  });
});
