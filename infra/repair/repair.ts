/**
 * `npm run repair`: recounts what the lists are read from and reports what differs from the rows; with `--fix` mends it.
 *
 *   npm run repair -- [--user ID] [--fix] [--resume] [--stack NAME]
 *
 * Works on AWS_ENDPOINT_URL_DYNAMODB where that is set, else on the local stack while it runs, else (or with `--stack`) on AWS with
 * the usual credentials and region. BATCHES_TABLE, JOBS_TABLE and COLUMNS_TABLE name the tables; without them they are found by
 * the stack's name. Exit code 0: nothing that could be
 * told while writers are at work differs any more; 1: something does.
 */

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type TableNames, tables } from '../../functions/tables.ts';
import { SetupProblem } from '../setup-problem.ts';
import type { Difference } from './recount.ts';
import { repairUser } from './repair-user.ts';
import { scanUsers, type UserScan } from './scan-users.ts';

const mostShown = 20;
const progressFile = '.local/repair.json';
const localStackFile = '.local/stack.json';
const repaired = ['Batches', 'Jobs', 'Columns'] as const;
type RepairTables = TableNames<(typeof repaired)[number]>;

/** What `--resume` goes on from. */
interface Progress {
  readonly tables: RepairTables;
  readonly fix: boolean;
  readonly scan: UserScan;
  /** Number of users, from the first on, that are done. */
  done: number;
  /** Of these, how many have differences left. */
  differing: number;
}

let lastShown = Date.now();

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof SetupProblem ? error.message : error);
  process.exitCode = 1;
}

async function main(): Promise<number> {
  const { user, fix, resume, stack } = readArguments();
  const { client: plainClient, place } = connect(stack);
  const names = tablesFromEnvironment() ?? (await findTables(plainClient, stack));
  const client = DynamoDBDocumentClient.from(plainClient);
  console.log(`${fix ? 'Repairing' : 'Comparing'} ${names.Columns} (${place})`);
  if (user !== undefined) return (await repairOne(client, names, user, fix, true)) ? 0 : 1;

  const progress = startProgress(names, fix, resume);
  await scanUsers(client, names, progress.scan, async () => {
    save(progress);
    show(`${progress.scan.users.length} users found`);
  });
  const { users } = progress.scan;
  for (const userId of users.slice(progress.done)) {
    show(`${progress.done} of ${users.length} users`);
    if (!(await repairOne(client, names, userId, fix, false))) progress.differing += 1;
    progress.done += 1;
    save(progress);
  }
  rmSync(progressFile, { force: true });
  console.log(`${users.length} users, ${progress.differing} with differences${fix ? ' left' : ''}.`);
  return progress.differing === 0 ? 0 : 1;
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        user: { type: 'string' },
        fix: { type: 'boolean', default: false },
        resume: { type: 'boolean', default: false },
        stack: { type: 'string' },
      },
    });
    return values;
  } catch (error) {
    throw new SetupProblem(
      `${(error as Error).message}\nUsage: npm run repair -- [--user ID] [--fix] [--resume] [--stack NAME]`,
    );
  }
}

function connect(stack: string | undefined): { client: DynamoDBClient; place: string } {
  const endpoint = stack === undefined ? (process.env.AWS_ENDPOINT_URL_DYNAMODB ?? localEndpoint()) : undefined;
  const isLocal = endpoint !== undefined && process.env.AWS_ACCESS_KEY_ID === undefined;
  const client = new DynamoDBClient({
    ...(endpoint !== undefined && { endpoint }),
    // DynamoDB Local takes any.
    ...(isLocal && { region: 'us-east-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
    maxAttempts: 10,
  });
  return { client, place: endpoint ?? 'AWS' };
}

function localEndpoint(): string | undefined {
  if (!existsSync(localStackFile)) return undefined;
  return (JSON.parse(readFileSync(localStackFile, 'utf8')) as { dynamodbEndpoint: string }).dynamodbEndpoint;
}

function tablesFromEnvironment(): RepairTables | undefined {
  const names = repaired.map((name) => [name, process.env[tables[name].environmentVariable]] as const);
  return names.every(([, value]) => value !== undefined) ? (Object.fromEntries(names) as RepairTables) : undefined;
}

/** CloudFormation names a table after its stack and logical id: `QuantumBatchApi-dev-StorageJobsD2C5A1F0-1ABC…`. */
async function findTables(client: DynamoDBClient, stack: string | undefined): Promise<RepairTables> {
  const byStack = new Map<string, Record<string, string>>();
  for await (const { TableNames = [] } of paginateListTables({ client }, {})) {
    for (const tableName of TableNames) {
      const [, stackName, name] = /^(.+)-Storage(Batches|Jobs|Columns)(?:[0-9A-F]{8}(?:-.*)?)?$/.exec(tableName) ?? [];
      if (stackName === undefined || name === undefined || (stack ?? stackName) !== stackName) continue;
      byStack.set(stackName, { ...byStack.get(stackName), [name]: tableName });
    }
  }
  const [found, ...others] = byStack.values();
  if (found === undefined) throw new SetupProblem('No tables of this service were found there.');
  if (others.length > 0) {
    throw new SetupProblem(`Several stacks are there: name one with --stack (${[...byStack.keys()].join(', ')}).`);
  }
  const missing = repaired.filter((name) => found[name] === undefined);
  if (missing.length > 0) throw new SetupProblem(`The tables ${missing.join(', ')} were not found there.`);
  return found as RepairTables;
}

/** Whether nothing differs any more. */
async function repairOne(
  client: DynamoDBDocumentClient,
  names: RepairTables,
  userId: string,
  fix: boolean,
  inDetail: boolean,
): Promise<boolean> {
  const { differences, remaining, unsettled, rows } = await repairUser(client, names, userId, {
    fix,
    ...(inDetail && { progress: (text) => show(`${userId}: ${text}`) }),
  });
  if (unsettled.length > 0) {
    report(`${userId}: ${unsettled.length} items changed during every recount; run again when it is quieter`);
  }
  if (differences.length === 0) {
    if (inDetail) report(`${userId}: ${rows} rows, no differences`);
    return true;
  }
  report(`${userId}: ${rows} rows, ${differences.length} differences${fix ? `, ${remaining.length} left` : ''}`);
  for (const difference of differences.slice(0, mostShown)) console.log(`  ${describe(difference)}`);
  if (differences.length > mostShown) console.log(`  and ${differences.length - mostShown} more`);
  return remaining.length === 0;
}

function describe(difference: Difference): string {
  switch (difference.kind) {
    case 'row':
      return `${difference.table} ${difference.key}: ${JSON.stringify(difference.found)}, should be ${JSON.stringify(difference.expected)}`;
    case 'head':
      return `${difference.key}: next_seq ${difference.found?.next_seq}, should be ${difference.expected.next_seq}`;
    case 'block':
      return `${difference.key}: ${
        difference.found === undefined ? 'missing' : difference.expected === undefined ? 'should not be there' : 'wrong'
      }`;
    case 'broken':
      return `${difference.key}: ${difference.found}; cannot be repaired`;
  }
}

function startProgress(names: RepairTables, fix: boolean, resume: boolean): Progress {
  const fresh: Progress = { tables: names, fix, scan: { users: [], reached: {} }, done: 0, differing: 0 };
  if (!resume) return fresh;
  if (!existsSync(progressFile)) throw new SetupProblem(`There is nothing to resume: ${progressFile} does not exist.`);
  const kept = JSON.parse(readFileSync(progressFile, 'utf8')) as Progress;
  if (kept.tables.Columns !== names.Columns || kept.fix !== fix) {
    throw new SetupProblem(
      `${progressFile} is of another run: ${kept.tables.Columns}${kept.fix ? ' with --fix' : ''}.`,
    );
  }
  return kept;
}

function save(progress: Progress) {
  mkdirSync(dirname(progressFile), { recursive: true });
  writeFileSync(`${progressFile}.new`, JSON.stringify(progress));
  renameSync(`${progressFile}.new`, progressFile);
}

/** A line that the next one replaces, where there is a terminal; else one every five seconds. */
function show(text: string) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
  else if (Date.now() - lastShown > 5_000) {
    lastShown = Date.now();
    console.error(text);
  }
}

function report(text: string) {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  console.log(text);
}
