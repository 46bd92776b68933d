/** Changes of rows lie beside the head until they are folded into it and into blocks. */

import { randomUUID } from 'node:crypto';
import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changeItems, changeToken } from '../../functions/data/columns/changes.ts';
import { formatOf, formerFormatOf } from '../../functions/data/columns/head.ts';
import { jobList, type OwnerFormats, ownerFormats } from '../../functions/data/columns/lists.ts';
import { foldChanges } from '../../functions/data/lists/fold-changes.ts';
import { countByFacet } from '../../functions/data/lists/reader.ts';
import { sealSegment } from '../../functions/data/lists/seal-segments.ts';
import { listBatches } from '../../functions/data/rows/batches.ts';
import { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import { cases, deep } from '../support/depth.ts';
import { dyingClient, isFinished } from '../support/dying-client.ts';
import { foldAtOnce } from '../support/fold-at-once.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { answerOf, listOf } from '../support/list-oracle.ts';
import { loadList, storedColumns } from '../support/load-list.ts';
import { ownTables } from '../support/own-tables.ts';
import { batchesAndJobs, ownerRows, recountOf } from '../support/owner-rows.ts';
import { batchRows, countJobs, jobRows } from '../support/random-rows.ts';
import { seed } from '../support/seed.ts';
import { smallLists } from '../support/small-lists.ts';
import { testDb } from '../support/test-db.ts';
import { withoutRole } from '../support/without-role.ts';
import { leaseFrom, workerStack } from '../support/worker-stack.ts';
import { writeApi } from '../support/write-api.ts';
import { wrongSummaries } from '../support/wrong-summaries.ts';

/** Segments of eight rows: seven of them are old. */
const rowCount = 64;
const segments = 7;
const rowsPerBlock = 4;
const lists = smallLists(rowsPerBlock);
const { client, tables } = await ownTables();
const db = testDb(client, tables, { formats: lists });
type Through = typeof client;

function fold(
  userId: string,
  {
    through = client,
    formats = lists,
    name = 'batch',
  }: { through?: Through; formats?: OwnerFormats; name?: 'batch' | 'job' } = {},
) {
  return foldAtOnce(testDb(through, tables, { formats }), { userId, list: formats[name] });
}

async function newUser(batches = rowCount): Promise<string> {
  const userId = `auth0|${randomUUID()}`;
  const [random = []] = fc.sample(batchRows(userId, batches), { numRuns: 1, seed });
  const pending = random.map((row) => ({
    ...row,
    ...({ status: 'PENDING', open: true, jobs_count: 0, start_datetime: null, end_datetime: null } as const),
    written_at: {},
  }));
  const rows = countJobs(pending, []);
  await loadList(client, tables, { list: lists.batch, userId, rows, sealed: (segment) => segment % 3 > 0 });
  return userId;
}

const isTransaction = ({ name }: Call) => name === 'TransactWriteCommand';

interface Change {
  readonly row: number;
  readonly status: 'RUNNING' | 'PAUSED' | 'DONE';
  readonly second: number;
}

async function change(userId: string, { row, status, second }: Change, through: Through = client) {
  const batch = (await batchesAndJobs(client, tables, userId)).batches[row];
  if (batch === undefined || batch.status === 'DONE') return;
  const at = `2026-03-01T00:00:${String(second).padStart(2, '0')}.000000Z`;
  const times = { start_datetime: at, ...(status === 'DONE' && { end_datetime: at }) };
  await writeApi({ ...db, client: through }).recordBatchStatus(userId, batch.id, { status, ...times });
}

const running = (userId: string, rows: readonly number[]) =>
  Promise.all(rows.map((row) => change(userId, { row, status: 'RUNNING', second: row % 60 })));

const changesIn = async (userId: string) =>
  Object.keys((await ownerRows(client, tables, userId)).columns).filter((key) => key.startsWith('b#hc#'));

const queries: readonly Record<string, string[]>[] = [
  { status: ['RUNNING'] },
  { status: ['PENDING'], offset: ['10'], limit: ['5'] },
  { start_date: ['2026-03-01T00:00:10Z'], end_date: ['2026-03-01T00:00:40Z'] },
  { order_by: ['start_datetime'], order_by_direction: ['ASC'], limit: ['6'] },
  { order_by: ['updated_at'], limit: ['4'], offset: ['30'] },
  { order_by: ['status'], limit: ['7'], offset: ['20'] },
  { status: ['DONE'], order_by: ['end_datetime'] },
];

async function expectRight(userId: string, parameters: Record<string, string[]>, through: Through = client) {
  const query = BatchListQuery.parse(parameters);
  const answer = answerOf(await listBatches({ ...db, client: through }, withoutRole(userId), query));
  expect(answer).toEqual(listOf((await batchesAndJobs(client, tables, userId)).batches, query as never));
}

async function expectSound(userId: string) {
  for (const query of queries) await expectRight(userId, query);
  expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
  const { columns } = await ownerRows(client, tables, userId);
  expect(wrongSummaries(lists, columns as never)).toEqual([]);
}

const scene = fc.record({
  query: fc.constantFrom(...queries),
  changes: fc.array(
    fc.record<Change>({
      row: fc.nat(rowCount - 1),
      status: fc.constantFrom('RUNNING', 'PAUSED', 'DONE'),
      second: fc.nat(59),
    }),
    { minLength: 1, maxLength: deep ? 4 : 2 },
  ),
  /** Before which of the list's calls the writers and the consumer come. */
  call: fc.nat(7),
  acts: fc.shuffledSubarray(['change', 'fold', 'seal'] as const, { minLength: 1 }),
  segment: fc.nat(segments - 1),
});

describe('a list of rows whose changes are folded at random moments', () => {
  it('has each row as it was before or after a change that comes while it is read', async () => {
    const userId = await newUser();
    let [folded, during] = [0, 0];
    const scenes = fc.sample(scene, { numRuns: cases(24, 600), seed });
    for (const { query: parameters, changes, call, acts, segment } of scenes) {
      const query = BatchListQuery.parse(parameters);
      const rowsNow = async () => (await batchesAndJobs(client, tables, userId)).batches;
      let states = [await rowsNow()];
      let calls = 0;
      const reader = interceptedClient(client, async ({ send }) => {
        if (calls++ === call) {
          during++;
          for (const act of acts) {
            if (act === 'fold') folded += await fold(userId);
            else if (act === 'seal') await sealSegment(db, { userId, list: lists.batch, segment });
            else {
              for (const each of changes) {
                await change(userId, each);
                const [now] = (await rowsNow()).filter((_, at) => at === each.row);
                // A list may have read some rows before, and others after.
                states = states.flatMap((rows) => [rows, rows.with(each.row, now!)]);
              }
            }
          }
        }
        return send();
      });
      const answer = answerOf(await listBatches({ ...db, client: reader }, withoutRole(userId), query));
      const possible = states.map((rows) => listOf(rows, query as never));
      expect(possible, `seed ${seed}: ${JSON.stringify({ parameters, changes, call, acts })}`).toContainEqual(answer);
      await expectRight(userId, parameters);
    }
    expect(during).toBeGreaterThan(scenes.length / 6);
    expect(folded).toBeGreaterThan(0);
    await expectSound(userId);
  });
});

describe('changes', () => {
  it('are in lists though no consumer ever runs', async () => {
    const userId = await newUser();
    await running(
      userId,
      Array.from({ length: 20 }, (_, at) => 3 * at),
    );
    expect(await changesIn(userId)).toHaveLength(20);
    await expectSound(userId);
  });

  it('are folded once 24 rows have changed, and deleted by the next fold, not within 14 s', async () => {
    const userId = await newUser();
    await running(userId, [...Array(23).keys()]);
    const foldAt = (now: number) =>
      foldChanges(testDb(client, tables, { formats: lists, now: () => now }), { userId, list: lists.batch });
    const time = Date.parse('2026-03-01T12:00:00Z');
    expect(await foldAt(time)).toBe(0);
    await running(userId, [60]);
    expect(await foldAt(time)).toBe(24);
    expect(await changesIn(userId)).toHaveLength(24);
    await running(
      userId,
      Array.from({ length: 24 }, (_, at) => 30 + at),
    );
    expect(await foldAt(time + 13_999)).toBe(0);
    expect(await foldAt(time + 14_000)).toBe(24);
    expect(await changesIn(userId)).toHaveLength(24);
    await expectSound(userId);
  });

  it('are waited for where they are many, until the items of the last fold may go', async () => {
    const userId = await newUser(132);
    await running(userId, [...Array(24).keys()]);
    let now = Date.parse('2026-03-01T12:00:00Z');
    const waits: number[] = [];
    const sleep = async (milliseconds: number) => {
      waits.push(milliseconds);
      now += milliseconds;
    };
    const foldNow = () =>
      foldChanges(testDb(client, tables, { formats: lists, now: () => now, sleep }), { userId, list: lists.batch });
    expect(await foldNow()).toBe(24);
    await running(
      userId,
      Array.from({ length: 99 }, (_, at) => 24 + at),
    );
    now += 4_000;
    expect(await foldNow()).toBe(0);
    expect(waits).toEqual([]);
    await running(userId, [123]);
    expect(await foldNow()).toBe(100);
    // Three transactions, with a pause between them; then their items may go. One stays.
    expect(waits).toEqual([10_000, 250, 250, 14_000]);
    expect(await changesIn(userId)).toHaveLength(1);
    await expectSound(userId);
  });

  it('are folded though each item has rows in more blocks than a transaction holds', async () => {
    const userId = await newUser(10);
    const { batches } = await batchesAndJobs(client, tables, userId);
    const [random = []] = fc.sample(jobRows(userId, [batches[0]!.id], 160), { numRuns: 1, seed });
    // The jobs of ten batches were created in turn.
    const jobs = random.map((row, seq) => ({
      ...{ ...row, seq, batch_id: batches[seq % 10]!.id, creation_order: Math.floor(seq / 10) },
      ...({ status: 'PENDING', start_timestamp: null, end_timestamp: null, written_at: {} } as const),
    }));
    await loadList(client, tables, { list: lists.batch, userId, rows: countJobs(batches, jobs) });
    await loadList(client, tables, { list: lists.job, userId, rows: jobs });
    const { recordJobStatus } = writeApi(db);
    const running = { status: 'RUNNING', start_timestamp: '2026-03-01T00:00:00.000000Z' } as const;
    for (const { id } of jobs) await recordJobStatus(userId, id, running);
    expect(await fold(userId, { name: 'job' })).toBe(160);
    expect(await fold(userId, { name: 'job' })).toBe(0);
  });

  it('leave neither a list nor a row wrong where the consumer dies before any of its calls', async () => {
    const userId = await newUser();
    for (let most = 0; most < 4; most++) {
      await running(userId, [most, 20 + most, 40 + most, 61]);
      await isFinished(fold(userId, { through: dyingClient(client, most).client }));
      await expectSound(userId);
      let deleted = 0;
      const dying = interceptedClient(client, ({ name, send }) => {
        if (name === 'DeleteCommand' && deleted++ >= most) throw new Error('killed');
        return send();
      });
      await running(userId, [most + 10]);
      await isFinished(fold(userId, { through: dying }));
      await expectSound(userId);
    }
    await fold(userId);
    await expectSound(userId);
  });

  it('are kept where a row changes again while it is folded', async () => {
    const userId = await newUser();
    await running(userId, [1, 30, 62]);
    const overtaken = interceptedClient(client, async (call) => {
      if (isTransaction(call)) await change(userId, { row: 30, status: 'DONE', second: 59 });
      return call.send();
    });
    await fold(userId, { through: overtaken });
    await expectSound(userId);
    await running(userId, [2]);
    await fold(userId);
    await expectSound(userId);
    expect(await changesIn(userId)).toHaveLength(2);
  });

  it('are not made again by a consumer that wakes up after others have folded that they were undone', async () => {
    const userId = await newUser();
    const { batches } = await batchesAndJobs(client, tables, userId);
    const { dictionaries } = storedColumns(lists.batch, batches).head;
    const put = async (row: number, members: object = {}) => {
      for (const [key, item] of changeItems(lists.batch, [{ ...batches[row]!, ...members }], dictionaries)) {
        const Item = { user_id: userId, key, t: changeToken(), ...item };
        await client.send(new PutCommand({ TableName: tables.Columns, Item }));
      }
    };
    await put(30, { status: 'RUNNING' });
    let hasSlept = false;
    const late = interceptedClient(client, async (call) => {
      if (isTransaction(call) && !hasSlept) {
        hasSlept = true;
        // No block is other than it was read.
        await put(30);
        await fold(userId);
        await put(6);
        await fold(userId);
        expect(await changesIn(userId)).toEqual(['b#hc#0000006']);
      }
      return call.send();
    });
    await fold(userId, { through: late });
    expect(hasSlept).toBe(true);
    await expectSound(userId);
  });

  it('are folded by one of two consumers at once', async () => {
    const userId = await newUser();
    await running(userId, [3, 9, 33, 62, 63]);
    await Promise.all([fold(userId), fold(userId), fold(userId)]);
    await expectSound(userId);
  });

  it('raise the format of a head that the release before has written, and its lists are right', async () => {
    const userId = await newUser();
    await client.send(
      new UpdateCommand({
        TableName: tables.Columns,
        Key: { user_id: userId, key: 'b#head' },
        UpdateExpression: 'SET #format = :format',
        ExpressionAttributeNames: { '#format': 'format' },
        ExpressionAttributeValues: { ':format': formerFormatOf(lists.batch) },
      }),
    );
    await expectSound(userId);
    expect(await fold(userId)).toBe(0);
    await running(userId, [10]);
    await expectSound(userId);
    expect((await ownerRows(client, tables, userId)).columns['b#head']).toMatchObject({
      format: formatOf(lists.batch),
    });
  });
});

describe('workers of one user, beside lists and a consumer', () => {
  it('never contend, and each count has what was reported before it', async () => {
    const userId = `auth0|${randomUUID()}`;
    const counts = { transactions: 0, failed: 0 };
    const counting = interceptedClient(client, async (call) => {
      if (!isTransaction(call)) return call.send();
      counts.transactions += 1;
      return call.send().catch((error) => {
        counts.failed += 1;
        throw error;
      });
    });
    const stack = workerStack(counting, tables, { now: Date.parse('2026-05-01T00:00:00Z') });
    const device = `DEVICE ${userId}`;
    const [batches, jobs] = [deep ? 60 : 8, 3];
    await stack.announce(device, {});
    for (let at = 0; at < batches; at++) await stack.create(userId, { device_type: device, jobs });
    Object.assign(counts, { transactions: 0, failed: 0 });
    let [begun, ended, isOver] = [0, 0, false];
    const work = async (worker: string) => {
      for (;;) {
        const claim = await stack.claim(device, worker);
        if (claim === undefined) return;
        for (let id: string | undefined = claim.job.id; id !== undefined; ) {
          begun += 1;
          const { job } = await stack.report(leaseFrom(claim), id);
          ended += 1;
          id = job?.id;
        }
      }
    };
    let reads = 0;
    const look = async () => {
      const read = testDb(client, tables);
      while (!isOver) {
        const before = ended;
        const byStatus = await countByFacet(read, jobList, userId, { conditions: [], facet: 'status' });
        expect(Object.values(byStatus).reduce((sum, count) => sum + count)).toBe(batches * jobs);
        expect(byStatus.DONE).toBeGreaterThanOrEqual(before);
        expect(byStatus.DONE).toBeLessThanOrEqual(begun);
        reads += 1;
        // No list is being read now: what was folded before may go.
        for (const name of ['batch', 'job'] as const) await fold(userId, { formats: ownerFormats, name });
      }
    };
    await Promise.all([
      look(),
      Promise.all(Array.from({ length: 8 }, (_, at) => work(`worker ${at}`))).finally(() => {
        isOver = true;
      }),
    ]);
    expect(ended).toBe(batches * jobs);
    expect(counts).toEqual({ transactions: batches * (1 + jobs), failed: 0 });
    expect(reads).toBeGreaterThan(2);
    expect(await recountOf(client, tables, userId)).toEqual([]);
  });
});
