import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { ownerLists } from '../../functions/data/columns/lists.ts';
import { lifecycle } from '../../functions/data/lifecycle/lifecycle.ts';
import { CorruptData } from '../../functions/errors.ts';
import type { TableNames } from '../../functions/tables.ts';
import { repairUser } from '../../infra/repair/repair-user.ts';
import { createTables } from '../support/create-tables.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { newBatch, newJob } from '../support/new-batch.ts';
import { ownerRows, recountOf } from '../support/owner-rows.ts';
import { testClient } from '../support/test-client.ts';

const rowsPerBlock = 3;
const lists = ownerLists(rowsPerBlock);
const client = testClient(inject('dynamodbEndpoint'));
const writer = (options = { rowsPerBlock }) => lifecycle(client, tables, options);
let tables: TableNames;

beforeAll(async () => {
  tables = await createTables(client, `repair-${Date.now()}-`);
});

/** An owner of seven batches, two jobs each, some tagged and under way. */
async function owner(userId: string, options?: { rowsPerBlock: number }): Promise<string> {
  const { createBatches, recordBatchStatus, recordJobStatus } = writer(options);
  const batches = Array.from({ length: 7 }, (_, number) =>
    newBatch(number, { tags: ['a'], jobs: [newJob(2 * number), newJob(2 * number + 1)] }),
  );
  await createBatches(userId, batches);
  const time = '2026-03-01T00:00:00.000000Z';
  await recordBatchStatus(userId, newBatch(4).id, { status: 'RUNNING', start_datetime: time });
  await recordJobStatus(userId, newJob(9).id, { status: 'DONE', end_timestamp: time });
  return userId;
}

const put = (table: 'Batches' | 'Jobs' | 'Columns', item: Record<string, unknown>) =>
  client.send(new PutCommand({ TableName: tables[table], Item: item }));
const remove = (table: 'Batches' | 'Jobs' | 'Columns', key: Record<string, unknown>) =>
  client.send(new DeleteCommand({ TableName: tables[table], Key: key }));
const unset = (table: 'Batches' | 'Jobs' | 'Columns', Key: Record<string, unknown>, name: string) =>
  client.send(
    new UpdateCommand({
      TableName: tables[table],
      Key,
      UpdateExpression: 'REMOVE #name',
      ExpressionAttributeNames: { '#name': name },
    }),
  );
const set = (table: 'Batches' | 'Jobs', user_id: string, id: string, name: string, value: unknown) =>
  client.send(
    new UpdateCommand({
      TableName: tables[table],
      Key: { user_id, id },
      UpdateExpression: 'SET #name = :value',
      ExpressionAttributeNames: { '#name': name },
      ExpressionAttributeValues: { ':value': value },
    }),
  );

/** Ways to break what an owner's lists are read from. Each leaves the rows' own content. */
const damages: Readonly<Record<string, (user_id: string) => Promise<unknown>>> = {
  'a lost head': (user_id) => remove('Columns', { user_id, key: 'b#head' }),
  'a head that counts too few': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    await put('Columns', { ...columns['j#head'], next_seq: 3 });
  },
  'a lost block of facets': (user_id) => remove('Columns', { user_id, key: 'b#f#0000001' }),
  'a lost block of ids': (user_id) => remove('Columns', { user_id, key: 'j#i#0000000' }),
  'a block of other bytes': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    await put('Columns', { ...columns['j#u#0000002'], v: columns['j#u#0000001']?.v });
  },
  'a block beyond the last': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    await put('Columns', { ...columns['b#n#0000001'], key: 'b#n#0000044' });
  },
  'a lost set': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    await remove('Columns', { user_id, key: Object.keys(columns).find((key) => key.startsWith('b#t#')) });
  },
  'no columns at all': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    await Promise.all(Object.keys(columns).map((key) => remove('Columns', { user_id, key })));
  },
  'a wrong count of jobs': (user_id) => set('Batches', user_id, newBatch(2).id, 'jobs_count', 5),
  'wrong counts per status': (user_id) =>
    set('Batches', user_id, newBatch(2).id, 'jobs_count_per_status', {
      PENDING: 0,
      RUNNING: 2,
      DONE: 0,
      ERROR: 0,
      CANCELED: 0,
      CANCELING: 0,
    }),
  'a gap in the sequence': (user_id) =>
    remove('Batches', { user_id, id: newBatch(3).id }).then(() =>
      Promise.all([6, 7].map((number) => remove('Jobs', { user_id, id: newJob(number).id }))),
    ),
  'a number taken twice': (user_id) => set('Jobs', user_id, newJob(5).id, 'seq', 2),
  'a place in the batch taken twice': (user_id) => set('Jobs', user_id, newJob(5).id, 'creation_order', 0),
  'a lost number': (user_id) => unset('Jobs', { user_id, id: newJob(5).id }, 'seq'),
  'a negative number': (user_id) => set('Batches', user_id, newBatch(2).id, 'seq', -1),
  'creation times that do not ascend': (user_id) =>
    set('Batches', user_id, newBatch(4).id, 'created_at', '2026-01-01T00:00:00.000000Z'),
  'a lost place in the batch': (user_id) => unset('Jobs', { user_id, id: newJob(5).id }, 'creation_order'),
  'a negative count of jobs': (user_id) => set('Batches', user_id, newBatch(2).id, 'jobs_count', -2),
  'a count of jobs that is a text': (user_id) => set('Batches', user_id, newBatch(2).id, 'jobs_count', 'two'),
  'lost counts per status': (user_id) => unset('Batches', { user_id, id: newBatch(2).id }, 'jobs_count_per_status'),
  'a version that is a text': (user_id) => set('Batches', user_id, newBatch(2).id, 'rev', 'one'),
  'times of writing that are a text': (user_id) => set('Jobs', user_id, newJob(2).id, 'written_at', 'never'),
  'a head without a format': (user_id) => unset('Columns', { user_id, key: 'b#head' }, 'format'),
  'a head whose count is a text': async (user_id) => {
    const { columns } = await ownerRows(client, tables, user_id);
    await put('Columns', { ...columns['b#head'], next_seq: 'seven' });
  },
  'a block that is a text': (user_id) => put('Columns', { user_id, key: 'b#u#0000001', v: 'text' }),
  'a block without bytes': (user_id) => unset('Columns', { user_id, key: 'b#i#0000001' }, 'v'),
  'a block of a column that no longer exists': (user_id) =>
    put('Columns', { user_id, key: 'j#z#0000000', v: Buffer.of(1) }),
  'rows without numbers': async (user_id) => {
    for (const row of (await ownerRows(client, tables, user_id)).batches) {
      const { seq, rev, written_at, ...rest } = row;
      await put('Batches', rest);
    }
  },
};

/** After these the rows get other numbers than they had. */
const renumbering = ['a gap in the sequence', 'creation times that do not ascend'];

describe('repairUser', () => {
  it('finds nothing wrong after the write side', async () => {
    const userId = await owner('sound');
    const { differences, rows } = await repairUser(client, tables, userId, { fix: false, lists });
    expect({ differences, rows }).toEqual({ differences: [], rows: 21 });
  });

  it.each(Object.keys(damages))('reports %s, mends it, and leaves the rows readable and writable', async (damage) => {
    const userId = await owner(damage);
    const sound = await ownerRows(client, tables, userId);
    await damages[damage]!(userId);
    const reported = await repairUser(client, tables, userId, { fix: false, lists });
    expect(reported.differences.length).toBeGreaterThan(0);
    expect(reported.remaining).toEqual(reported.differences);
    const mended = await repairUser(client, tables, userId, { fix: true, lists });
    expect(mended.differences).toEqual(reported.differences);
    expect(mended.remaining).toEqual([]);
    expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
    const after = await ownerRows(client, tables, userId);
    if (!renumbering.includes(damage)) expect(after.columns).toEqual(sound.columns);
    for (const rows of [after.batches, after.jobs]) {
      expect(rows.map((row) => row.seq)).toEqual(rows.map((_, seq) => seq));
      expect(rows.map((row) => row.created_at)).toEqual(rows.map((row) => row.created_at).sort());
    }
    await writer().createBatch(userId, newBatch(8, { jobs: [newJob(80)] }));
    expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
  });

  it('mends a lost head before any writer can number rows from 0 again', async () => {
    const userId = await owner('headless');
    const sound = await ownerRows(client, tables, userId);
    await remove('Columns', { user_id: userId, key: 'b#head' });
    await remove('Columns', { user_id: userId, key: 'j#head' });
    const { createBatch, recordBatchStatus, recordJobStatus } = writer();
    const lost = /rows in .* but no head: npm run repair -- --fix/;
    await expect(createBatch(userId, newBatch(8))).rejects.toThrow(lost);
    await expect(createBatch(userId, newBatch(9, { jobs: [newJob(90)] }))).rejects.toThrow(lost);
    await expect(recordBatchStatus(userId, newBatch(5).id, { status: 'RUNNING' })).rejects.toThrow(CorruptData);
    await expect(recordJobStatus(userId, newJob(10).id, { status: 'RUNNING' })).rejects.toThrow(CorruptData);
    const { batches, jobs } = await ownerRows(client, tables, userId);
    expect({ batches, jobs }).toEqual({ batches: sound.batches, jobs: sound.jobs });
    await repairUser(client, tables, userId, { fix: true, lists });
    expect(await ownerRows(client, tables, userId)).toEqual(sound);
    await createBatch(userId, newBatch(8));
    expect((await ownerRows(client, tables, userId)).batches.at(-1)).toMatchObject({ id: newBatch(8).id, seq: 7 });
  });

  it('names what it cannot mend and touches nothing', async () => {
    const userId = await owner('broken');
    await set('Batches', userId, newBatch(1).id, 'status', 'LOST');
    const { remaining } = await repairUser(client, tables, userId, { fix: true, lists });
    expect(remaining).toMatchObject([{ kind: 'broken', key: `Batches ${newBatch(1).id}` }]);
  });

  it('neither reports nor spoils what writers change meanwhile, and still mends the damage', async () => {
    const userId = await owner('busy');
    await damages['a lost block of facets']!(userId);
    let writing = true;
    const write = async (first: number) => {
      for (let number = first; writing; number++) {
        await writer().createBatch(userId, newBatch(number, { tags: ['a'], jobs: [newJob(10 * number)] }));
        await writer().recordJobStatus(userId, newJob(10 * number).id, { status: 'RUNNING' });
      }
    };
    const writers = [write(100), write(1000)];
    // Writers get in between any two calls of the repair.
    const slow = interceptedClient(client, async (call) => {
      await new Promise((wake) => setTimeout(wake, 30));
      return call.send();
    });
    const { remaining, differences } = await repairUser(slow, tables, userId, { fix: true, lists });
    writing = false;
    await Promise.all(writers);
    expect(differences).toMatchObject([{ kind: 'block', key: 'b#f#0000001' }]);
    expect(remaining).toEqual([]);
    expect(await recountOf(client, tables, userId, rowsPerBlock)).toEqual([]);
  });
});

describe('npm run repair', () => {
  const script = resolve('infra/repair/repair.ts');
  let directory: string;
  let names: TableNames;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'repair-'));
    names = await createTables(client, `repair-all-${Date.now()}-`);
    for (const userId of ['one', 'two', 'three']) {
      await lifecycle(client, names).createBatch(userId, newBatch(0, { jobs: [newJob(0)] }));
    }
  });

  afterAll(() => rm(directory, { recursive: true }));

  function run(...options: string[]): Promise<{ code: number | null; output: string }> {
    return runIn({ BATCHES_TABLE: names.Batches, JOBS_TABLE: names.Jobs, COLUMNS_TABLE: names.Columns }, ...options);
  }

  function runIn(
    environment: NodeJS.ProcessEnv,
    ...options: string[]
  ): Promise<{ code: number | null; output: string }> {
    const child = spawn(process.execPath, [script, ...options], {
      cwd: directory,
      env: { PATH: process.env.PATH, AWS_ENDPOINT_URL_DYNAMODB: inject('dynamodbEndpoint'), ...environment },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    return new Promise((done) => child.once('close', (code) => done({ code, output })));
  }

  it('ends with 0 when nothing differs, with 1 when something does, and with 0 again when it is mended', async () => {
    expect(await run()).toMatchObject({ code: 0, output: expect.stringContaining('3 users, 0 with differences') });
    await client.send(new DeleteCommand({ TableName: names.Columns, Key: { user_id: 'two', key: 'b#head' } }));
    expect(await run()).toMatchObject({ code: 1, output: expect.stringContaining('two: 2 rows, 1 differences') });
    expect(await run('--user', 'one')).toMatchObject({ code: 0 });
    expect(await run('--user', 'two')).toMatchObject({ code: 1 });
    expect(await run('--fix')).toMatchObject({ code: 0, output: expect.stringContaining('0 with differences left') });
    expect(await run()).toMatchObject({ code: 0 });
  });

  it('goes on with the users that are left', async () => {
    await client.send(new DeleteCommand({ TableName: names.Columns, Key: { user_id: 'three', key: 'b#head' } }));
    expect(await run('--resume')).toMatchObject({ code: 1, output: expect.stringContaining('nothing to resume') });
    const reached = Object.fromEntries(
      ['Columns', 'Batches', 'Jobs'].flatMap((table) => [0, 1, 2, 3].map((segment) => [`${table} ${segment}`, null])),
    );
    const { Batches, Jobs, Columns } = names;
    const progress = {
      tables: { Batches, Jobs, Columns },
      fix: false,
      scan: { users: ['three', 'one'], reached },
      done: 1,
      differing: 0,
    };
    await mkdir(join(directory, '.local'), { recursive: true });
    await writeFile(join(directory, '.local', 'repair.json'), JSON.stringify(progress));
    const { code, output } = await run('--resume');
    expect(output).toContain('2 users, 0 with differences');
    expect(code).toBe(0);
    await expect(readFile(join(directory, '.local', 'repair.json'))).rejects.toThrow('ENOENT');
  });

  it('finds the tables of a stack by its name', async () => {
    const stack = `Stack${Date.now()}`;
    const ofStack = await createTables(client, `${stack}-Storage`);
    await lifecycle(client, ofStack).createBatch('four', newBatch(0));
    const credentials = { AWS_REGION: 'eu-west-3', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
    const { code, output } = await runIn(credentials, '--stack', stack);
    expect(output).toContain(`Comparing ${ofStack.Columns}`);
    expect(output).toContain('1 users, 0 with differences');
    expect(code).toBe(0);
    expect(await runIn(credentials, '--stack', 'None')).toMatchObject({
      code: 1,
      output: expect.stringContaining('No tables of the stack None were found there.'),
    });
  });

  it('says in one sentence what it does not understand', async () => {
    const { code, output } = await run('--everything');
    expect(code).toBe(1);
    expect(output).toContain('Usage: npm run repair');
    expect(output).not.toContain('at ');
  });
});
