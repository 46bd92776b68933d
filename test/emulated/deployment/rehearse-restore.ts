import { deepEqual, equal, match } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DeleteItemCommand, DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { type TableDescription, tables } from '../../../functions/tables.ts';
import { call, expectAnswer } from '../../../infra/smoke/api-client.ts';
import { deploy, outputsOf, stackName } from './deploy.ts';
import type { EmulatedAws } from './emulated-aws.ts';

const project = join(import.meta.dirname, '../../..');

interface Rehearsal {
  readonly aws: EmulatedAws;
  readonly user: { readonly apiUrl: string; readonly token: string };
  /** Where the commands run, and keep what they note. */
  readonly folder: string;
  /** The assembly whose tables are the restored ones of that name. */
  readonly assemblyOf: (restored: string) => Promise<string>;
}

/**
 * Follows docs/guides/restoring.md, in its order, after rows were lost. The emulator restores what
 * a table has now, whatever the time: so the loss comes after the restore, in the old tables.
 */
export async function rehearseRestore({ aws, user, folder, assemblyOf }: Rehearsal) {
  const run = (script: string, ...parameters: string[]) =>
    promisify(execFile)(process.execPath, [join(project, `infra/${script}/${script}.ts`), ...parameters], {
      cwd: folder,
      env: aws.environment,
      timeout: 240_000,
    });
  const listed = async () => (await call(user, '/api/v1/batches?limit=100&order_by=created_at')).body.data;
  const before = await listed();
  const outputs = await outputsOf(aws);

  await run('restore', '--stack', stackName, '--stop');
  // For a token that it has seen, the gateway keeps the authorizer's answer for a minute.
  const authorization = `Bearer ${user.token}x`;
  equal((await call(user, '/api/v1/batches', { authorization })).status, 500);
  const time = `${new Date(Date.now() - 1_000).toISOString().slice(0, 19)}Z`;
  const { stdout } = await run('restore', '--stack', stackName, '--to', time);
  const [, restored] = /"tables-dev": "(\w+)"/.exec(stdout)!;
  await expectComplete(aws, restored!);
  await loseRows(outputs.BatchesTable!);
  await deploy(aws, await assemblyOf(restored!), { action: 'update', apiUrl: user.apiUrl });
  const repair = await run('repair', '--fix', '--stack', stackName, '--tables', restored!);
  match(repair.stdout, / 0 with differences left/);
  await run('restore', '--stack', stackName, '--start');

  equal((await outputsOf(aws)).BatchesTable, `${stackName}-StorageBatches-${restored}`);
  expectAnswer(await call(user, '/api/v1/batches?limit=1'), 200);
  deepEqual(await listed(), before);
}

/** That each restored table has what a restore leaves out. */
async function expectComplete(aws: EmulatedAws, restored: string) {
  const { TableNames } = await aws.run('dynamodb', 'list-tables');
  const names = (TableNames as string[]).filter((name) => name.endsWith(`-${restored}`));
  equal(names.length, Object.keys(tables).length);
  for (const name of names) {
    const table = tables[/Storage(\w+)-/.exec(name)![1] as keyof typeof tables] as TableDescription;
    const { Table } = await aws.run('dynamodb', 'describe-table', '--table-name', name);
    equal(Table.StreamSpecification?.StreamEnabled ?? false, table.stream !== undefined, name);
    const { ContinuousBackupsDescription } = await aws.run(
      ...['dynamodb', 'describe-continuous-backups', '--table-name', name],
    );
    equal(ContinuousBackupsDescription.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus, 'ENABLED', name);
    const { TimeToLiveDescription } = await aws.run('dynamodb', 'describe-time-to-live', '--table-name', name);
    const expiry = table.timeToLive === undefined ? 'DISABLED' : 'ENABLED';
    equal(TimeToLiveDescription.TimeToLiveStatus, expiry, name);
  }
}

async function loseRows(TableName: string) {
  const client = new DynamoDBClient();
  const { Items = [] } = await client.send(new ScanCommand({ TableName }));
  for (const { user_id, id } of Items) {
    await client.send(new DeleteItemCommand({ TableName, Key: { user_id: user_id!, id: id! } }));
  }
}
