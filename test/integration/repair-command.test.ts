import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TableNames, tables } from '../../functions/tables.ts';
import { createTables } from '../support/create-tables.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { newBatch, newJob } from '../support/new-batch.ts';
import { batchesAndJobs, ownerRows } from '../support/owner-rows.ts';
import { testClient } from '../support/test-client.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const client = testClient(dynamodbEndpoint);

describe('npm run repair', () => {
  const script = resolve('infra/repair/repair.ts');
  let directory: string;
  let names: TableNames;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'repair-'));
    names = await createTables(client, `repair-all-${Date.now()}-`);
    for (const userId of ['one', 'two', 'three']) {
      await writeApi(testDb(client, names)).createBatch(userId, newBatch(0, { jobs: [newJob(0)] }));
    }
  });

  afterAll(() => rm(directory, { recursive: true }));

  function run(...options: string[]): Promise<{ code: number | null; output: string }> {
    return runIn(environmentOf(names), ...options);
  }

  function environmentOf(physical: TableNames): NodeJS.ProcessEnv {
    const named = [
      'Batches',
      'Jobs',
      'Columns',
      'Sequences',
      'DeviceQueue',
      'Usage',
      'Counters',
      'Limits',
      'Contributors',
    ] as const;
    return Object.fromEntries(named.map((name) => [tables[name].environmentVariable, physical[name]]));
  }

  function runIn(
    environment: NodeJS.ProcessEnv,
    ...options: string[]
  ): Promise<{ code: number | null; output: string }> {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const child = spawn(process.execPath, [script, ...options], {
      cwd: directory,
      env: { PATH, NODE_COMPILE_CACHE, AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint, ...environment },
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

  it('compares the counters of limits, those of projects only for all users', async () => {
    const Item = { subject: 'project:x', name: 'limits', rev: 1, max_unfinished_jobs: 4 };
    await client.send(new PutCommand({ TableName: names.Counters, Item }));
    const { code, output } = await run();
    expect(output).toContain('Counters: 1 differences\n  project:x: max_unfinished_jobs 4, should be 0');
    expect(code).toBe(1);
    expect(await run('--user', 'one')).toMatchObject({ code: 0 });
    expect(await run('--fix')).toMatchObject({ code: 0, output: expect.stringContaining('1 differences, 0 left') });
    expect(await run()).toMatchObject({ code: 0 });
  });

  it('goes on with the users that are left', async () => {
    await client.send(new DeleteCommand({ TableName: names.Columns, Key: { user_id: 'three', key: 'b#head' } }));
    expect(await run('--resume')).toMatchObject({ code: 1, output: expect.stringContaining('nothing to resume') });
    const reached = Object.fromEntries(
      ['Columns', 'Batches', 'Jobs'].flatMap((table) => [0, 1, 2, 3].map((segment) => [`${table} ${segment}`, null])),
    );
    const { Batches, Jobs, Columns, DeviceQueue, Usage } = names;
    const progress = {
      tables: { Batches, Jobs, Columns, DeviceQueue, Usage },
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
    await writeApi(testDb(client, ofStack)).createBatch('four', newBatch(0));
    const credentials = { AWS_REGION: 'eu-west-3', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
    const { code, output } = await runIn(credentials, '--stack', stack);
    expect(output).toContain(`Comparing ${ofStack.Columns}`);
    expect(output).toContain('1 users, 0 with differences');
    expect(code).toBe(0);

    // Restored tables lie beside the others: it takes none of both by itself.
    const restored = '20261122T091500Z';
    await createTables(client, `${stack}-Storage`, `-${restored}`);
    const both = await runIn(credentials, '--stack', stack);
    expect(both.output).toContain(`${stack}, ${stack} --tables ${restored}`);
    expect(both.code).toBe(1);
    const chosen = await runIn(credentials, '--stack', stack, '--tables', restored);
    expect(chosen.output).toContain(`Comparing ${ofStack.Columns}-${restored}`);
    expect(chosen.output).toContain('0 users, 0 with differences');
  });

  it('finds users who have rows but no columns', async () => {
    const ofRows = await createTables(client, `repair-rows-${Date.now()}-`);
    await writeApi(testDb(client, ofRows)).createBatch('five', newBatch(0, { jobs: [newJob(0)] }));
    await writeApi(testDb(client, ofRows)).createBatch('six', newBatch(0, { jobs: [newJob(0)] }));
    for (const user_id of ['five', 'six']) {
      for (const key of Object.keys((await ownerRows(client, ofRows, user_id)).columns)) {
        await client.send(new DeleteCommand({ TableName: ofRows.Columns, Key: { user_id, key } }));
      }
    }
    await client.send(new DeleteCommand({ TableName: ofRows.Jobs, Key: { user_id: 'five', id: newJob(0).id } }));
    await client.send(new DeleteCommand({ TableName: ofRows.Batches, Key: { user_id: 'six', id: newBatch(0).id } }));
    const { code, output } = await runIn(environmentOf(ofRows));
    expect(output).toContain('five: 1 rows');
    expect(output).toContain(`Batches ${newBatch(0).id}: missing, but 1 jobs name it; cannot be repaired`);
    expect(output).toContain('2 users, 2 with differences');
    expect(code).toBe(1);
  });

  it('reports a user whose rows cannot be recounted, and goes on with the others', async () => {
    const ofMany = await createTables(client, `repair-many-${Date.now()}-`);
    const userIds = Array.from({ length: 6 }, (_, number) => `user ${number}`);
    for (const userId of userIds) await writeApi(testDb(client, ofMany)).createBatch(userId, newBatch(0));
    const [row] = (await batchesAndJobs(client, ofMany, 'user 0')).batches;
    // More device types than a dictionary holds.
    const rows = Array.from({ length: 256 }, (_, number) => ({
      ...row,
      id: newBatch(number).id,
      device_type: `D${number}`,
    }));
    for (const Item of [...rows, { ...row, id: newBatch(999).id }]) {
      await client.send(new PutCommand({ TableName: ofMany.Batches, Item }));
    }
    const { code, output } = await runIn(environmentOf(ofMany), '--fix');
    expect(output).toContain(
      'user 0: could not be repaired: LimitExceeded: More than 256 different values of device_type',
    );
    expect(output).toContain('6 users, 0 with differences left, 1 that failed.');
    expect(output).not.toContain('    at ');
    expect(code).toBe(1);
    expect(await runIn(environmentOf(ofMany), '--user', 'user 0')).toMatchObject({ code: 1 });
    expect(await runIn(environmentOf(ofMany), '--user', 'user 1')).toMatchObject({ code: 0 });
  });

  it('explains itself', async () => {
    const { code, output } = await runIn({ AWS_ENDPOINT_URL_DYNAMODB: undefined }, '--help');
    expect(output).toMatch(/^Usage: npm run repair -- \[--fix\]/);
    expect(output).toContain('--stack NAME');
    expect(code).toBe(0);
  });

  const onAws = { AWS_REGION: 'eu-west-3', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
  const noProfile = { AWS_ENDPOINT_URL_DYNAMODB: undefined, AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nonexistent' };

  it.each<[string, NodeJS.ProcessEnv, string[], string]>([
    ['an unknown option', {}, ['--everything'], "Unknown option '--everything'"],
    [
      'no local stack, even with credentials for AWS',
      { ...onAws, AWS_ENDPOINT_URL_DYNAMODB: undefined },
      ['--fix'],
      'The local stack does not run here (npm start). For a stack on AWS add --stack NAME.',
    ],
    ['no region', noProfile, ['--stack', 'any'], 'No region: set AWS_REGION'],
    ['no credentials', { ...noProfile, AWS_REGION: 'eu-west-3' }, ['--stack', 'any'], 'CredentialsProviderError'],
    ['no such stack', onAws, ['--stack', 'None'], 'No tables of the stack None were found there.'],
    ['nobody at the address', { AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:9' }, [], 'ECONNREFUSED'],
    ['nothing to resume', {}, ['--resume'], 'There is nothing to resume'],
  ])('answers %s with one sentence', async (_, environment, options, sentence) => {
    const { code, output } = await runIn({ ...environmentOf(names), ...environment }, ...options);
    expect(output).toContain(sentence);
    expect(output).not.toContain('    at ');
    expect(output.trim().split('\n').length).toBeLessThanOrEqual(2);
    expect(code).toBe(1);
  });
});
