import { deepEqual, equal, match, notEqual } from 'node:assert/strict';
import { type TableDescription, tables } from '../../functions/tables.ts';
import { outputReader } from '../commands/aws-cli.ts';
import { call, expectAnswer } from '../smoke/api-client.ts';
import { eventually } from '../smoke/eventually.ts';
import { type Acceptance, runScript } from './acceptance.ts';

/** How long the gateway keeps answers of the authorizer, and functions run: twice that. */
const stopSeconds = 180;

/**
 * Follows docs/guides/restoring.md, in its order, to a second after the stop: nothing may be lost.
 * The stack works on the restored tables from then on. Returns what to write into cdk.json.
 */
export async function checkRestore(acceptance: Acceptance): Promise<string> {
  const { stack } = acceptance;
  const { user } = await acceptance.callers();
  const listed = async () => (await call(user, '/api/v1/batches?limit=100&order_by=created_at')).body.data;
  const before = await listed();
  notEqual(before.length, 0, 'There are no batches to restore.');
  await expectSuccess('restore/restore.ts', '--stack', stack, '--stop');
  // Its answer is not kept by the gateway: no function answers it.
  const authorization = `Bearer ${user.token}x`;
  await eventually(stopSeconds, async () => (await call(user, '/api/v1/batches', { authorization })).status === 500);
  const time = await acceptance.restorableTime();
  const printed = await expectSuccess('restore/restore.ts', '--stack', stack, '--to', time);
  const [setting, restored] = /"tables": "(\w+)"/.exec(printed)!;
  await expectComplete(acceptance, restored!);
  await acceptance.deploy({ tables: restored! });
  await expectSuccess('restore/restore.ts', '--stack', stack, '--stop');
  const repair = await expectSuccess('repair/repair.ts', '--fix', '--stack', stack, '--tables', restored!);
  match(repair, / 0 with differences left/);
  await expectSuccess('restore/restore.ts', '--stack', stack, '--start');
  match((await outputReader(acceptance.stack, acceptance.aws))('BatchesTable'), new RegExp(`-${restored}$`));
  await eventually(120, async () => (await call(user, '/api/v1/batches?limit=1')).status === 200);
  expectAnswer(await call(user, '/api/v1/batches?limit=1'), 200);
  deepEqual(await listed(), before);
  return `restored to ${time}. Write ${setting} into the settings of the stage in cdk.json, and commit it`;
}

async function expectSuccess(file: string, ...parameters: string[]): Promise<string> {
  const { code, printed } = await runScript(file, ...parameters);
  equal(code, 0, `${file}: ${printed}`);
  return printed;
}

/** A second after now to which all tables can go back: some five minutes later. */
export async function restorableTime({ aws, stack }: Pick<Acceptance, 'aws' | 'stack'>): Promise<string> {
  const output = await outputReader(stack, aws);
  const since = new Date();
  return eventually(900, async () => {
    const latest = await Promise.all(
      Object.keys(tables).map(async (name) => {
        const of = ['--table-name', output(`${name}Table`)];
        const { ContinuousBackupsDescription } = await aws('dynamodb', 'describe-continuous-backups', ...of);
        return new Date(ContinuousBackupsDescription.PointInTimeRecoveryDescription.LatestRestorableDateTime);
      }),
    );
    return latest.every((each) => each > since) && `${since.toISOString().slice(0, 19)}Z`;
  });
}

/** That each restored table has what a restore leaves out. */
async function expectComplete({ aws }: Pick<Acceptance, 'aws'>, restored: string) {
  const { TableNames } = await aws('dynamodb', 'list-tables');
  const names = (TableNames as string[]).filter((name) => name.endsWith(`-${restored}`));
  equal(names.length, Object.keys(tables).length);
  for (const name of names) {
    const table = tables[/Storage(\w+)-/.exec(name)![1] as keyof typeof tables] as TableDescription;
    const of = ['--table-name', name];
    const { Table } = await aws('dynamodb', 'describe-table', ...of);
    equal(Table.StreamSpecification?.StreamEnabled ?? false, table.stream !== undefined, name);
    const { ContinuousBackupsDescription } = await aws('dynamodb', 'describe-continuous-backups', ...of);
    equal(ContinuousBackupsDescription.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus, 'ENABLED', name);
    const { TimeToLiveDescription } = await aws('dynamodb', 'describe-time-to-live', ...of);
    // It is ENABLING for up to an hour.
    match(TimeToLiveDescription.TimeToLiveStatus, table.timeToLive === undefined ? /^DISABL/ : /^ENABL/, name);
  }
}
