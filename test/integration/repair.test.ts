import { isDeepStrictEqual } from 'node:util';
import { BatchWriteCommand, DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { packColumn, unpackColumn } from '../../functions/data/columns/column-items.ts';
import { formatOf, type StoredHead } from '../../functions/data/columns/head.ts';
import type { ListDescription } from '../../functions/data/columns/list-description.ts';
import { seal } from '../../functions/data/columns/packed-integers.ts';
import { sealSegment } from '../../functions/data/lists/seal-segments.ts';
import { listBatches } from '../../functions/data/rows/batches.ts';
import { CorruptData } from '../../functions/errors.ts';
import { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import { repairUser } from '../../infra/repair/repair-user.ts';
import { scanUsers, type UserScan } from '../../infra/repair/scan-users.ts';
import { copiesOf } from '../support/copy-owner.ts';
import { createTables } from '../support/create-tables.ts';
import { cases, deep, share } from '../support/depth.ts';
import { foldAtOnce } from '../support/fold-at-once.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { interruptedClient } from '../support/interrupted-client.ts';
import { itemsOfOwner } from '../support/items-of-owner.ts';
import { listOf } from '../support/list-oracle.ts';
import { newBatch, newJob } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { batchesAndJobs, ownerRows, recountOf } from '../support/owner-rows.ts';
import { seed } from '../support/seed.ts';
import { smallLists } from '../support/small-lists.ts';
import { testDb } from '../support/test-db.ts';
import { withoutRole } from '../support/without-role.ts';
import { writeApi } from '../support/write-api.ts';

const rowsPerBlock = 3;
const lists = smallLists(rowsPerBlock);
const updatedAt = lists.job.columns.updated_at!;
const { client, tables } = await ownTables();
/** All is written in one month, so that a recount reads the usage of one. */
let clock = Date.parse('2026-03-01T00:00:00Z');
const now = () => (clock += 1_000);
const db = testDb(client, tables, { formats: lists, now });
const writer = (through = client) => writeApi({ ...db, client: through });
const sealJobs = (userId: string) => sealSegment(db, { userId, list: lists.job, segment: 0 });
/** Makes an owner of seven batches. */
let owner: Awaited<ReturnType<typeof copiesOf>>;
/** The columns of such an owner. */
let soundColumns: (userId: string) => Awaited<ReturnType<typeof ownerRows>>['columns'];
/** The rows of such an owner. */
let soundOnes: (userId: string) => Awaited<ReturnType<typeof batchesAndJobs>>;

type Item = Record<string, unknown>;

/** Two jobs each, some tagged and under way; all changes are folded, the oldest jobs sealed. */
beforeAll(async () => {
  const userId = 'template';
  const { createBatches, recordBatchStatus, recordJobStatus } = writer();
  const batches = Array.from({ length: 7 }, (_, number) =>
    newBatch(number, { tags: ['a'], jobs: [newJob(2 * number), newJob(2 * number + 1)] }),
  );
  await createBatches(userId, batches);
  const time = '2026-03-01T00:00:00.000000Z';
  await recordBatchStatus(userId, newBatch(4).id, { status: 'RUNNING', start_datetime: time });
  await recordJobStatus(userId, newJob(9).id, { status: 'DONE', end_timestamp: time });
  for (const list of [lists.batch, lists.job]) await foldAtOnce(db, { userId, list });
  for (const { key } of await itemsOfOwner(client, tables.Columns, userId)) {
    if (/^[bj]#hc/.test(String(key))) await remove('Columns', { user_id: userId, key });
  }
  await sealJobs(userId);
  owner = await copiesOf(client, tables, userId);
  const { columns, batches: ofBatches, jobs: ofJobs } = await ownerRows(client, tables, userId);
  soundColumns = (user_id) =>
    Object.fromEntries(Object.entries(columns).map(([key, item]) => [key, { ...item, user_id }]));
  soundOnes = (user_id) => ({
    batches: ofBatches.map((row) => ({ ...row, user_id })),
    jobs: ofJobs.map((row) => ({ ...row, user_id })),
  });
});

const repairOf = (userId: string, fix = true, through = client) =>
  repairUser({ db: { ...db, client: through }, userId }, { fix });
const put = (table: 'Batches' | 'Jobs' | 'Columns', item: Item) =>
  client.send(new PutCommand({ TableName: tables[table], Item: item }));
const remove = (table: 'Batches' | 'Jobs' | 'Columns', key: Item) =>
  client.send(new DeleteCommand({ TableName: tables[table], Key: key }));
const get = async (table: 'Batches' | 'Jobs' | 'Columns', key: Item) =>
  (await client.send(new GetCommand({ TableName: tables[table], Key: key, ConsistentRead: true }))).Item;
const without = (item: Item, name: string) =>
  Object.fromEntries(Object.entries(item).filter(([each]) => each !== name));
const textBlock = (...texts: string[]) => new Uint8Array(Buffer.from(JSON.stringify(texts)));

type Damage = (user_id: string) => Promise<unknown>;

const lose =
  (key: string): Damage =>
  (user_id) =>
    remove('Columns', { user_id, key });
/** Changes a column item, which may be missing. */
const spoil =
  (key: string, change: (item: Item) => Item): Damage =>
  async (user_id) =>
    put('Columns', { ...change((await get('Columns', { user_id, key })) ?? {}), user_id, key });
/** Puts the content of one column item into another. */
const copy =
  (from: string, key: string): Damage =>
  async (user_id) =>
    put('Columns', { ...(await get('Columns', { user_id, key: from })), user_id, key });
const change =
  (table: 'Batches' | 'Jobs', id: string, members: Item): Damage =>
  async (user_id) =>
    put(table, { ...(await get(table, { user_id, id })), ...members });
const batch = (number: number, members: Item) => change('Batches', newBatch(number).id, members);
const job = (number: number, members: Item) => change('Jobs', newJob(number).id, members);

const timeEntry = async (user_id: string) =>
  String(Object.keys((await ownerRows(client, tables, user_id)).columns).find((key) => key.startsWith('b#times#')));
const texts = 'b#texts#project_id#0000000';
/** Ways to break what an owner's lists are read from. Each leaves the rows' own content. */
const damages: Readonly<Record<string, Damage>> = {
  'a lost head': lose('b#head'),
  'a head that counts too few': spoil('j#head', (head) => ({ ...head, next_seq: 3 })),
  'a lost block of facets': lose('b#f#0000001'),
  'a lost block of ids': lose('j#i#0000000'),
  'a block of other bytes': spoil('j#u#0000002', () => ({ v: packColumn(updatedAt, [1, 2, 3]) })),
  'a block beyond the last': copy('b#n#0000001', 'b#n#0000044'),
  'a lost set': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    await remove('Columns', { user_id, key: Object.keys(columns).find((key) => key.startsWith('b#t#')) });
  },
  'no columns at all': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    const keys = Object.keys(columns).filter((key) => !key.startsWith('event#'));
    for (let from = 0; from < keys.length; from += 25) {
      const requests = keys.slice(from, from + 25).map((key) => ({ DeleteRequest: { Key: { user_id, key } } }));
      await client.send(new BatchWriteCommand({ RequestItems: { [tables.Columns]: requests } }));
    }
  },
  'a wrong count of jobs': batch(2, { jobs_count: 5 }),
  'wrong counts per status': batch(2, {
    jobs_count_per_status: { PENDING: 0, RUNNING: 2, DONE: 0, ERROR: 0, CANCELED: 0, CANCELING: 0 },
  }),
  'a gap in the sequence': (user_id) =>
    Promise.all([
      remove('Batches', { user_id, id: newBatch(3).id }),
      ...[6, 7].map((number) => remove('Jobs', { user_id, id: newJob(number).id })),
    ]),
  'a number taken twice': job(5, { seq: 2 }),
  'a place in the batch taken twice': job(5, { creation_order: 0 }),
  'a lost number': job(5, { seq: undefined }),
  'creation times that do not ascend': batch(4, { created_at: '2026-01-01T00:00:00.000000Z' }),
  'a version that is a text': batch(2, { rev: 'one' }),
  'times of writing that are a text': job(2, { written_at: 'never' }),
  'a head without a format': spoil('b#head', (head) => without(head, 'format')),
  'a head whose count is a text': spoil('b#head', (head) => ({ ...head, next_seq: 'seven' })),
  'a dictionary with a text twice': spoil('j#head', (head) => {
    const [first] = (head as StoredHead).dictionaries.project_id ?? [];
    return { ...head, dictionaries: { project_id: [first, first] } };
  }),
  'a head without blocks of texts': spoil('b#head', (head) => without(head, 'dictionary_blocks')),
  'a lost block of texts': lose(texts),
  'a block of texts that are none': spoil('j#texts#project_id#0000000', () => ({ v: Buffer.from('[1,2]') })),
  'a block of one text twice': spoil(texts, () => ({ v: textBlock('twice', 'twice') })),
  'a text in the head that is in a block too': async (user_id) => {
    const { v } = (await get('Columns', { user_id, key: texts })) as { v: Uint8Array };
    const dictionaries = { project_id: [JSON.parse(Buffer.from(v).toString())[0]], device_type: [] };
    await spoil('b#head', (head) => ({ ...head, dictionaries }))(user_id);
  },
  'a lost entry of the time index': async (user_id) => lose(await timeEntry(user_id))(user_id),
  'an entry of the time index that names another row': async (user_id) =>
    spoil(await timeEntry(user_id), () => ({ v: Buffer.from('33') }))(user_id),
  'an entry of the time index for no row': spoil('j#times#2026-01-01', () => ({ v: Buffer.from('3') })),
  'a block of texts beyond the last': spoil('b#texts#project_id#0000001', () => ({ v: textBlock('x', 'y') })),
  'a block that is a text': spoil('b#u#0000001', () => ({ v: 'text' })),
  'a block without bytes': spoil('b#i#0000001', (block) => without(block, 'v')),
  'a block of a column that no longer exists': spoil('j#z#0000000', () => ({ v: Buffer.of(1) })),
  'a summary that is not right': copy('j#r#s#0000000', 'j#f#s#0000000'),
  'a summary that is a text': spoil('j#f#s#0000000', () => ({ v: 'text' })),
  'a summary of rows that are not old': copy('j#f#s#0000000', 'j#f#s#0000001'),
  'a summary of rows that are not there': copy('j#f#s#0000000', 'j#f#s#0000044'),
  'a summary of a block that is not sealed': spoil('j#u#0000001', opened),
  'a sealed block of other bytes': copy('j#u#0000000', 'j#u#0000001'),
  'a lost sealed block': lose('j#r#0000001'),
  'a change that is not right': spoil('b#hc#0000002', () => changeOf(lists.batch, { r2: [1, 1, 1, 1, 1] })),
  'a change of a row that is not there': spoil('j#hc#x', () => changeOf(lists.job, { r99: [1, 1, 1, 1, 1, 1] })),
  'a change that ends too early': spoil('j#hc#x', () => changeOf(lists.job, { r2: [1] })),
  'a change of another format': spoil('b#hc#0000002', () => ({ format: 'other', t: 'token' })),
  'rows without numbers': async (user_id) => {
    for (const row of (await batchesAndJobs(client, tables, user_id)).batches) {
      const { seq, rev, written_at, ...rest } = row;
      await put('Batches', rest);
    }
  },
};

function changeOf(list: ListDescription, rows: Readonly<Record<string, readonly number[]>>): Item {
  const values = Object.entries(rows).map(([name, bytes]) => [name, Uint8Array.from(bytes)]);
  return { format: formatOf(list), t: 'token', ...Object.fromEntries(values) };
}

/** The block without its seal. */
function opened(block: Item): Item {
  return { ...block, v: packColumn(updatedAt, unpackColumn(updatedAt, block.v as Uint8Array)) };
}

/** After these the rows, or the texts, get other numbers than they had. */
const renumbering = ['a gap in the sequence', 'creation times that do not ascend', 'a head without blocks of texts'];

/** Other damages are mended by the first repair that meets them. */
const reportedFirst = new Set(share(Object.keys(damages), 4));

describe('repairUser', () => {
  it('finds nothing wrong after the write side, and writes nothing then', async () => {
    const userId = await owner('sound');
    const writes: string[] = [];
    const watched = interceptedClient(client, (call) => {
      if (!/^(Query|BatchGet)/.test(call.name)) writes.push(call.name);
      return call.send();
    });
    expect(await repairOf(userId, true, watched)).toEqual({ differences: [], remaining: [], rows: 21 });
    expect(writes).toEqual([]);
  });

  it.each(Object.keys(damages))('reports %s, mends it, and leaves the rows readable and writable', async (damage) => {
    const userId = await owner(damage);
    await damages[damage]!(userId);
    const reported = reportedFirst.has(damage) ? await repairOf(userId, false) : undefined;
    if (reported) expect(reported.remaining).toEqual(reported.differences);
    const mended = await repairOf(userId);
    expect(mended.differences.length).toBeGreaterThan(0);
    if (reported) expect(mended.differences).toEqual(reported.differences);
    expect(mended.remaining).toEqual([]);
    if (!renumbering.includes(damage)) {
      const columns = await itemsOfOwner(client, tables.Columns, userId);
      expect(Object.fromEntries(columns.map((item) => [item.key, item]))).toEqual(soundColumns(userId));
      // Who has what the first test finds sound has nothing wrong.
      if (!deep && isDeepStrictEqual(await batchesAndJobs(client, tables, userId), soundOnes(userId))) return;
    }
    await expectSound(userId);
  });

  it('mends several kinds of damage at once', async () => {
    const subsets = fc.shuffledSubarray(Object.keys(damages), { minLength: 2, maxLength: 6 });
    for (const [at, mixture] of fc.sample(subsets, { numRuns: cases(3, 60), seed }).entries()) {
      const message = `seed ${seed}: ${mixture.join(', ')}`;
      const userId = await owner(`mixture ${at}`);
      // Some find nothing left to damage.
      for (const damage of mixture) await damages[damage]!(userId).catch(() => {});
      expect((await repairOf(userId)).remaining, message).toEqual([]);
      await expectSound(userId, message);
    }
  });

  async function expectSound(userId: string, message?: string) {
    // What is wrong now is wrong after one batch more, too.
    if (deep) expect(await recountOf(client, tables, userId, rowsPerBlock), message).toEqual([]);
    const { batches, jobs } = await batchesAndJobs(client, tables, userId);
    for (const rows of [batches, jobs]) {
      const numbers = rows.map(({ seq }) => seq);
      expect(numbers, message).toEqual([...rows.keys()]);
      const times = rows.map(({ created_at }) => created_at);
      expect(times, message).toEqual(times.toSorted());
    }
    await writer().createBatch(userId, newBatch(8, { jobs: [newJob(80)] }));
    expect(await recountOf(client, tables, userId, rowsPerBlock), message).toEqual([]);
  }

  it('reports no summary that is missing, and no sealed block without one, and seals what is old', async () => {
    const userId = await owner('opened');
    const sound = await ownerRows(client, tables, userId);
    for (const key of ['j#f#s#0000000', 'j#e#s#0000000']) await lose(key)(userId);
    await spoil('j#e#0000000', opened)(userId);
    expect((await repairOf(userId, false)).differences).toEqual([]);
    expect((await ownerRows(client, tables, userId)).columns).not.toHaveProperty(['j#f#s#0000000']);
    expect((await repairOf(userId)).differences).toEqual([]);
    expect((await ownerRows(client, tables, userId)).columns).toEqual(sound.columns);
  });

  it('opens the heads only when everything else is right, however often blocks are sealed meanwhile', async () => {
    const userId = await owner('sealed meanwhile');
    const { columns } = await ownerRows(client, tables, userId);
    await damages['a sealed block of other bytes']!(userId);
    await lose('j#u#s#0000000')(userId);
    let heads = 0;
    const sealing = interceptedClient(client, async (call) => {
      if (!/^Query/.test(call.name)) {
        await sealJobs(userId);
      }
      if ((call.input.Item as Item | undefined)?.format !== undefined) {
        heads += 1;
        const differences = await recountOf(client, tables, userId, rowsPerBlock);
        expect(differences.filter(({ kind }) => kind !== 'head')).toEqual([]);
      }
      return call.send();
    });
    expect((await repairOf(userId, true, sealing)).remaining).toEqual([]);
    expect(heads).toBe(2);
    expect((await ownerRows(client, tables, userId)).columns).toEqual(columns);
  });

  it('mends a lost head before any writer can number rows from 0 again', async () => {
    const userId = await owner('headless');
    const sound = await ownerRows(client, tables, userId);
    const { createBatch, recordBatchStatus, recordJobStatus } = writer();
    const lost = /rows in .* but no head: npm run repair -- --fix/;
    await lose('j#head')(userId);
    await expect(createBatch(userId, newBatch(9, { jobs: [newJob(90)] }))).rejects.toThrow(lost);
    await lose('b#head')(userId);
    await expect(createBatch(userId, newBatch(8))).rejects.toThrow(lost);
    await expect(createBatch(userId, newBatch(9, { jobs: [newJob(90)] }))).rejects.toThrow(lost);
    await expect(recordBatchStatus(userId, newBatch(5).id, { status: 'RUNNING' })).rejects.toThrow(CorruptData);
    await expect(recordJobStatus(userId, newJob(10).id, { status: 'RUNNING' })).rejects.toThrow(CorruptData);
    const { batches, jobs } = await batchesAndJobs(client, tables, userId);
    expect({ batches, jobs }).toEqual({ batches: sound.batches, jobs: sound.jobs });
    await repairOf(userId);
    expect(await ownerRows(client, tables, userId)).toEqual(sound);
    await createBatch(userId, newBatch(8));
    expect((await batchesAndJobs(client, tables, userId)).batches.at(-1)).toMatchObject({ id: newBatch(8).id, seq: 7 });
  });

  it('names what it cannot mend, and then leaves everything as it is', async () => {
    const userId = await owner('broken');
    await batch(1, { status: 'LOST' })(userId);
    await damages['a lost block of facets']!(userId);
    const found = await ownerRows(client, tables, userId);
    const { remaining } = await repairOf(userId);
    expect(remaining).toMatchObject([{ kind: 'broken', key: `Batches ${newBatch(1).id}` }]);
    expect(await ownerRows(client, tables, userId)).toEqual(found);
  });

  it('reports a job without its batch, and mends everything else', async () => {
    const userId = await owner('orphans');
    await remove('Batches', { user_id: userId, id: newBatch(6).id });
    const orphans = [{ kind: 'broken', key: `Batches ${newBatch(6).id}`, found: 'missing, but 2 jobs name it' }];
    expect((await repairOf(userId)).remaining).toEqual(orphans);
    expect((await ownerRows(client, tables, userId)).columns['b#head']).toMatchObject({ next_seq: 6 });
    expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual(orphans);
  });

  it('moves on the version of a row, so that a writer who has read it before does not undo the repair', async () => {
    const userId = await owner('version');
    await damages['a wrong count of jobs']!(userId);
    const found = (await batchesAndJobs(client, tables, userId)).batches[2];
    await repairOf(userId);
    const mended = (await batchesAndJobs(client, tables, userId)).batches[2];
    expect(mended).toEqual({ ...found, jobs_count: 2, rev: Number(found?.rev) + 1 });
  });

  it('takes nothing for broken that is found in another way each time', async () => {
    const userId = await owner('restless');
    const sound = await ownerRows(client, tables, userId);
    let reads = 0;
    const restless = interceptedClient(client, async (call) => {
      const output = await call.send();
      if (call.input.TableName !== tables.Columns) return output;
      const v = Buffer.of(reads++);
      const items = output.Items as Item[];
      return { ...output, Items: items.map((item) => (item.key === 'b#f#0000001' ? { ...item, v } : item)) };
    });
    expect(await repairOf(userId, true, restless)).toMatchObject({ differences: [], remaining: [] });
    expect(reads).toBe(2);
    expect(await ownerRows(client, tables, userId)).toEqual(sound);
  });

  it('takes nothing for broken while workers change rows between its reads', async () => {
    const userId = await owner('at work');
    const start_datetime = '2026-03-01T01:00:00.000000Z';
    let [changed, opened] = [0, 0];
    const atWork = interceptedClient(client, async (call) => {
      if (call.name === 'UpdateCommand') opened += 1;
      if (call.name === 'QueryCommand' && call.input.TableName === tables.Batches) {
        await writer().recordBatchStatus(userId, newBatch(changed++).id, { status: 'RUNNING', start_datetime });
      }
      return call.send();
    });
    expect(await repairOf(userId, true, atWork)).toMatchObject({ differences: [], remaining: [] });
    expect(changed).toBeGreaterThan(1);
    expect(opened).toBe(0);
    expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
  });
});

/** Places are struck this far apart, others with every seed. */
const stride = deep ? 1 : 3;

describe('repairUser, interrupted at any write,', () => {
  const refusals = ['CorruptData', 'OutdatedColumns'];
  /** Lists that go by these are wrong, or refused, until they are mended. */
  const lasting = ['a lost block of texts', 'a lost head'];

  it.each(lasting)('lets nobody read or write columns that are not right yet: %s', async (damage) => {
    const query = (project_id: string) => BatchListQuery.parse({ project_id: [project_id] });
    const outcomes: string[] = [];
    for (let writes = deep ? 1 : 1 + (seed % stride); ; writes += stride) {
      const userId = await owner(`interrupted ${damage} ${writes}`);
      const { batches } = await batchesAndJobs(client, tables, userId);
      await damages[damage]!(userId);
      await damages['a wrong count of jobs']!(userId);
      await damages['a sealed block of other bytes']!(userId);
      const outcome = await repairOf(userId, true, interruptedClient(client, writes)).catch((error) => error);
      if (!(outcome instanceof Error)) break;
      for (const { project_id } of batches.slice(0, 3)) {
        const list = listBatches(db, withoutRole(userId), query(project_id));
        const answer = await list.then(({ items }) => items.map(({ id }) => id), nameOfError);
        outcomes.push(String(answer));
        if (!refusals.includes(String(answer))) {
          expect(answer).toEqual(listOf(batches, query(project_id) as never).ids);
        }
      }
      const written = writer().setTags(userId, batches[0]!.id, ['new']);
      expect(refusals).toContain(await written.then(() => 'written', nameOfError));
      expect((await repairOf(userId)).remaining).toEqual([]);
      expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
    }
    expect(outcomes.filter((each) => refusals.includes(each)).length).toBeGreaterThan(deep ? 9 : 2);
  });
});

function nameOfError(error: Error): string {
  return error.name;
}

describe('repairUser beside writers', () => {
  /** Changes that a writer decides before the repair begins, and commits at any time of it. */
  const changes: Readonly<Record<string, (through: typeof client, userId: string) => Promise<unknown>>> = {
    'a new batch': (through, userId) => writer(through).createBatch(userId, newBatch(9, { jobs: [newJob(90)] })),
    'the end of an old job': (through, userId) =>
      writer(through).recordJobStatus(userId, newJob(3).id, { status: 'DONE' }),
  };

  it.each(Object.keys(changes))(
    'spoils nothing when %s is committed between any two calls of its rebuild',
    async (name) => {
      let committed = 0;
      for (let calls = deep ? 0 : seed % stride; ; calls += stride) {
        const userId = await owner(`${name} ${calls}`);
        await spoil('b#u#0000001', () => ({ v: packColumn(updatedAt, [1, 2, 3]) }))(userId);
        await damages['a lost block of facets']!(userId);
        await spoil('j#u#0000001', () => ({ v: seal(packColumn(updatedAt, [1, 2, 3])) }))(userId);
        const held = heldWriter((through) => changes[name]!(through, userId));
        await held.isReady;
        let left = calls;
        const meeting = interceptedClient(client, async (call) => {
          if (left < calls || call.name === 'UpdateCommand') left -= 1;
          if (left === -1) await held.commit();
          return call.send();
        });
        expect((await repairOf(userId, true, meeting)).remaining).toEqual([]);
        const isOver = left >= 0;
        const outcome = await held.commit();
        if (outcome === undefined) committed += 1;
        else expect(outcome).toBe('OutdatedColumns');
        expect(await recountOf(client, tables, userId, rowsPerBlock), `${calls} calls`).toEqual([]);
        if (isOver) break;
      }
      expect(committed).toBeGreaterThan(deep ? 1 : 0);
    },
  );

  /** A writer that waits before its first transaction until it may commit. */
  function heldWriter(write: (through: typeof client) => Promise<unknown>) {
    const [ready, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const through = interceptedClient(client, async (call) => {
      if (call.name === 'TransactWriteCommand') {
        ready.resolve();
        await go.promise;
      }
      return call.send();
    });
    const outcome = write(through).then(() => undefined, nameOfError);
    const commit = () => {
      go.resolve();
      return outcome;
    };
    return { isReady: Promise.race([ready.promise, outcome]), commit };
  }

  it('writes each item only where it is still as it was found', async () => {
    const competing: readonly [damage: string, table: 'Batches' | 'Columns', id: Item, meanwhile: Item][] = [
      ['a block that is a text', 'Columns', { key: 'b#u#0000001' }, { v: Uint8Array.of(2) }],
      ['a lost block of facets', 'Columns', { key: 'b#f#0000001' }, { v: Uint8Array.of(2) }],
      ['a block without bytes', 'Columns', { key: 'b#i#0000001' }, { v: Uint8Array.of(2) }],
      ['a block beyond the last', 'Columns', { key: 'b#n#0000044' }, { v: Uint8Array.of(2) }],
      ['a lost block of texts', 'Columns', { key: texts }, { v: textBlock('other', 'another') }],
      ['a wrong count of jobs', 'Batches', { id: newBatch(2).id }, { jobs_count: 9, rev: 50 }],
      ['a version that is a text', 'Batches', { id: newBatch(2).id }, { jobs_count: 9, rev: 50 }],
      ['rows without numbers', 'Batches', { id: newBatch(2).id }, { seq: 2, rev: 50 }],
    ];
    for (const [damage, table, id, meanwhile] of share(competing, 2)) {
      const userId = await owner(`competing ${damage}`);
      await damages[damage]!(userId);
      const key = { user_id: userId, ...id };
      let refused: Item | undefined;
      const interfering = interceptedClient(client, async (call) => {
        const target = (call.input.Key ?? call.input.Item ?? {}) as Item;
        const isTarget = Object.entries(key).every(([name, value]) => target[name] === value);
        if (refused !== undefined || !isTarget) return call.send();
        await put(table, { ...(await get(table, key)), ...key, ...meanwhile });
        await expect(call.send(), damage).rejects.toThrow('The conditional request failed');
        refused = await get(table, key);
        return call.send();
      });
      // The next recount finds what was written meanwhile, and it is no less broken.
      expect((await repairOf(userId, true, interfering)).remaining, damage).toEqual([]);
      expect(refused, damage).toMatchObject(meanwhile);
      expect(await recountOf(client, tables, userId, rowsPerBlock), damage).toEqual([]);
    }
  });

  it('may run twice at the same time', async () => {
    const userId = await owner('twice');
    const sound = await ownerRows(client, tables, userId);
    for (const damage of ['a lost head', 'a sealed block of other bytes', 'a block beyond the last']) {
      await damages[damage]!(userId);
    }
    await Promise.all([repairOf(userId), repairOf(userId)]);
    expect(await ownerRows(client, tables, userId)).toEqual(sound);
  });
});

describe('scanUsers', () => {
  it('finds each user once who has any item, through all pages of all tables', async () => {
    const names = await createTables(client, `repair-scan-${Date.now()}-`);
    const users = Array.from({ length: 40 }, (_, number) => `user ${number}`);
    for (const [number, user_id] of users.entries()) {
      const [table, item] = [
        [names.Columns, { user_id, key: 'b#head' }],
        [names.Batches, { user_id, id: '1', seq: 0 }],
        [names.Jobs, { user_id, id: '1', seq: 0, batch_id: '1', creation_order: 0 }],
      ][number % 3] as [string, Record<string, unknown>];
      await client.send(new PutCommand({ TableName: table, Item: item }));
      if (number % 4 === 0)
        await client.send(new PutCommand({ TableName: names.Columns, Item: { user_id, key: 'j#head' } }));
    }
    let pages = 0;
    const paging = interceptedClient(client, (call) => {
      expect(call.input.ConsistentRead).toBe(true);
      Object.assign(call.input, { Limit: 1 });
      return call.send();
    });
    const scan: UserScan = { users: [], reached: {} };
    await scanUsers(testDb(paging, names), scan, async () => {
      pages += 1;
    });
    expect(scan.users.toSorted()).toEqual(users.toSorted());
    expect(pages).toBeGreaterThan(users.length);
  });
});
