/**
 * `npm run repair`: recounts what the lists are read from and reports what differs from the rows;
 * with `--fix` mends it.
 */

import { rmSync } from 'node:fs';
import { DynamoDBClient, paginateListTables } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { isConflict, isUnavailable } from '../../functions/data/dynamodb/aws-errors.ts';
import type { Db } from '../../functions/data/dynamodb/db.ts';
import type { Item } from '../../functions/data/dynamodb/reads.ts';
import { ServiceError } from '../../functions/errors.ts';
import { systemClock } from '../../functions/runtime/clock.ts';
import { type TableNames, tables } from '../../functions/tables.ts';
import { readJsonFile, writeJsonFile } from '../commands/json-file.ts';
import { runCommand } from '../commands/run-command.ts';
import { SetupProblem } from '../commands/setup-problem.ts';
import { countInProjects } from './count-in-projects.ts';
import type { Difference } from './recount.ts';
import { repairContributors } from './repair-contributors.ts';
import { repairCounters } from './repair-counters.ts';
import { repairQueues } from './repair-queues.ts';
import { type RepairResult, repairUser } from './repair-user.ts';
import { scanUsers, type UserScan } from './scan-users.ts';
import type { RepairedOwner } from './snapshot.ts';

const usage = `Usage: npm run repair -- [--fix] [--user ID] [--resume] [--stack NAME [--tables TIME]]

Recounts sequence numbers, counts, columns, sets, usage and the counters of limits from the rows, compares the devices' queues
with the batches, and who is known in projects with the users' lists, and reports what differs. Also says how many batches are older than a limit of their project.
  --fix         mend what differs, also while writers are at work, and write the summaries of old rows; count these batches. While a user
                with differences is mended, that user's filtered and sorted lists and all changes answer 500;
                not where only usage differs.
  --user ID     only this user, and no counters of projects
  --resume      go on after an interruption
  --stack NAME  the tables of this CloudFormation stack on AWS, with the usual region and credentials
  --tables TIME  those of its tables that npm run restore made
Without --stack: the DynamoDB at AWS_ENDPOINT_URL_DYNAMODB, otherwise that of the local stack while it runs; never AWS.
BATCHES_TABLE, JOBS_TABLE, COLUMNS_TABLE, SEQUENCES_TABLE, DEVICE_QUEUE_TABLE, USAGE_TABLE, COUNTERS_TABLE,
LIMITS_TABLE and CONTRIBUTORS_TABLE name the tables there; without them they are found by their names.
Exit code 0: no differences left; items that are being written are not judged. 1: differences remain, or a user
could not be recounted or repaired. Lists of such a user may answer 500 until a repair is complete: run it again.`;

const options = {
  user: { type: 'string' },
  fix: { type: 'boolean', default: false },
  resume: { type: 'boolean', default: false },
  stack: { type: 'string' },
  tables: { type: 'string' },
} as const;

const maxShown = 20;
/** Throttled calls wait rather than end the run. */
const maxAttemptsOnAws = 10;
const progressFile = '.local/repair.json';
const localStackFile = '.local/stack.json';
const repaired = [
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

type RepairedTable = (typeof repaired)[number];
type RepairTables = TableNames<RepairedTable>;

/** What `--resume` goes on from. */
interface Progress {
  readonly tables: RepairTables;
  readonly fix: boolean;
  readonly scan: UserScan;
  /** Number of users, from the first on, that are done. */
  done: number;
  /** Of these, how many have differences left. */
  differing: number;
  /** Of these, how many could not be recounted or repaired. */
  failed: number;
}

let lastShown = Date.now();

await runCommand({ usage, options, describe: failureText }, async ({ user, fix, resume, stack, tables: restored }) => {
  const { client: plainClient, place } = connect(stack);
  const names = await findTables(plainClient, stack, restored);
  const db: Db<RepairedTable> = { client: DynamoDBDocumentClient.from(plainClient), tables: names, clock: systemClock };
  console.log(`${fix ? 'Repairing' : 'Comparing'} ${names.Columns} (${place})`);
  if (user !== undefined) {
    const outcome = await repairOne({ db, userId: user }, { fix, inDetail: true });
    const areSound = await repairShared({ db, fix, userId: user, users: [user] });
    return outcome === 'sound' && areSound ? 0 : 1;
  }

  const progress = startProgress(names, fix, resume);
  await scanUsers(db, progress.scan, async () => {
    writeJsonFile(progressFile, progress);
    show(`${progress.scan.users.length} users found`);
  });
  const { users } = progress.scan;
  for (const userId of users.slice(progress.done)) {
    show(`${progress.done} of ${users.length} users`);
    const outcome = await repairOne({ db, userId }, { fix, inDetail: false });
    if (outcome === 'differing') progress.differing += 1;
    if (outcome === 'failed') progress.failed += 1;
    progress.done += 1;
    writeJsonFile(progressFile, progress);
  }
  rmSync(progressFile, { force: true });
  report(
    `${users.length} users, ${progress.differing} with differences${fix ? ' left' : ''}` +
      `${progress.failed > 0 ? `, ${progress.failed} that failed` : ''}.`,
  );
  const areSound = await repairShared({ db, fix, users });
  return progress.differing + progress.failed === 0 && areSound ? 0 : 1;
});

type SharedRepair = Parameters<typeof countInProjects>[0] & Parameters<typeof repairContributors>[0];

/** Of what is not one user's: returns whether it is as the batches say, in the end. */
async function repairShared(of: SharedRepair): Promise<boolean> {
  const areQueuesSound = await repairAll('Queues', of, {
    repair: repairQueues,
    describe: ({ userId, batchId, reason }) => `${userId}: Batches ${batchId} ${reason}`,
  });
  const uncounted = await countInProjects(of);
  if (uncounted > 0) {
    const outcome = of.fix ? 'and count from now on' : 'and do not count: --fix counts them';
    report(`Limits: ${uncounted} batches are older than a limit of their project, ${outcome}.`);
  }
  const areCountersSound = await repairAll('Counters', of, {
    repair: repairCounters,
    describe: ({ subject, found, expected }) => `${subject}: ${describeAmounts(found, expected)}`,
  });
  const areContributorsSound = await repairAll('Contributors', of, {
    repair: repairContributors,
    describe: ({ userId, projectId, reason }) => `${userId}: the project ${projectId} ${reason}`,
  });
  return areQueuesSound && areCountersSound && areContributorsSound;
}

async function repairAll<Found>(
  name: string,
  of: SharedRepair,
  { repair, describe }: Record<'repair', (of: SharedRepair) => Promise<Found[]>> & { describe(found: Found): string },
): Promise<boolean> {
  const differences = await repair(of);
  const left = of.fix && differences.length > 0 ? await repair({ ...of, fix: false }) : differences;
  if (differences.length > 0)
    report(`${name}: ${differences.length} differences${of.fix ? `, ${left.length} left` : ''}`);
  showSome(differences, describe);
  return left.length === 0;
}

function connect(stack: string | undefined): { client: DynamoDBClient; place: string } {
  if (stack !== undefined)
    return { client: new DynamoDBClient({ maxAttempts: maxAttemptsOnAws }), place: `stack ${stack}` };
  const endpoint =
    process.env.AWS_ENDPOINT_URL_DYNAMODB ?? readJson<{ dynamodbEndpoint: string }>(localStackFile)?.dynamodbEndpoint;
  if (endpoint === undefined) {
    throw new SetupProblem('The local stack does not run here (npm start). For a stack on AWS add --stack NAME.');
  }
  // DynamoDB Local takes any region and credentials.
  const region = process.env.AWS_REGION ?? 'us-east-1';
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const isConfigured = process.env.AWS_ACCESS_KEY_ID !== undefined;
  return {
    client: new DynamoDBClient({ endpoint, region, ...(!isConfigured && { credentials }) }),
    place: endpoint,
  };
}

function readJson<Content>(file: string): Content | undefined {
  try {
    return readJsonFile(file);
  } catch (error) {
    throw new SetupProblem(`${file} cannot be read: ${(error as Error).message}`);
  }
}

function tablesFromEnvironment(): RepairTables | undefined {
  const names = repaired.map((name) => [name, process.env[tables[name].environmentVariable]] as const);
  return names.every(([, value]) => value !== undefined) ? (Object.fromEntries(names) as RepairTables) : undefined;
}

/**
 * CloudFormation names a table after its stack and logical id:
 * `QuantumBatchApi-dev-StorageJobsD2C5A1F0-1ABC…`; a restored one is
 * `QuantumBatchApi-dev-StorageJobs-20261122T091500Z`. Only the operator knows which of both are in
 * use.
 */
async function findTables(
  client: DynamoDBClient,
  stack: string | undefined,
  restored: string | undefined,
): Promise<RepairTables> {
  const given = stack === undefined ? tablesFromEnvironment() : undefined;
  if (given !== undefined) return given;
  const byStack = new Map<string, Record<string, string>>();
  for await (const { TableNames = [] } of paginateListTables({ client }, {})) {
    for (const tableName of TableNames) {
      const [, stackName, name, time] =
        /^(.+)-Storage(Batches|Jobs|Columns|Sequences|DeviceQueue|Usage|Counters|Limits|Contributors)(?:[0-9A-F]{8}(?:-.*)?|-(\d{8}T\d{6}Z))?$/.exec(
          tableName,
        ) ?? [];
      if (stackName === undefined || name === undefined || (stack ?? stackName) !== stackName) continue;
      if (restored !== undefined && restored !== time) continue;
      const of = time === undefined ? stackName : `${stackName} --tables ${time}`;
      byStack.set(of, { ...byStack.get(of), [name]: tableName });
    }
  }
  const [found, ...others] = byStack.values();
  if (found === undefined) {
    throw new SetupProblem(
      `No tables of ${stack === undefined ? 'this service' : `the stack ${stack}`} were found there.`,
    );
  }
  if (others.length > 0) {
    throw new SetupProblem(`Several are there: name one with --stack (${[...byStack.keys()].join(', ')}).`);
  }
  const missing = repaired.filter((name) => found[name] === undefined);
  if (missing.length > 0) throw new SetupProblem(`The tables ${missing.join(', ')} were not found there.`);
  return found as RepairTables;
}

type Outcome = 'sound' | 'differing' | 'failed';

async function repairOne(
  owner: RepairedOwner,
  { fix, inDetail }: { fix: boolean; inDetail: boolean },
): Promise<Outcome> {
  const { userId } = owner;
  let result: RepairResult;
  try {
    result = await repairUser(owner, {
      fix,
      ...(inDetail && { progress: (text) => show(`${userId}: ${text}`) }),
    });
  } catch (error) {
    if (isOfEveryUser(error)) throw error;
    report(`${userId}: could not be ${fix ? 'repaired' : 'recounted'}: ${failureText(error)}`);
    return 'failed';
  }
  const { differences, remaining, rows } = result;
  if (differences.length === 0) {
    if (inDetail) report(`${userId}: ${rows} rows, no differences`);
    return 'sound';
  }
  report(`${userId}: ${rows} rows, ${differences.length} differences${fix ? `, ${remaining.length} left` : ''}`);
  showSome(differences, describeDifference);
  return remaining.length === 0 ? 'sound' : 'differing';
}

function showSome<Item>(items: readonly Item[], describe: (item: Item) => string) {
  for (const item of items.slice(0, maxShown)) console.log(`  ${describe(item)}`);
  if (items.length > maxShown) console.log(`  and ${items.length - maxShown} more`);
}

function describeDifference(difference: Difference): string {
  const { kind, key, found } = difference;
  if (kind === 'broken') return `${key}: ${found}; cannot be repaired`;
  if (kind === 'row') {
    const reason = 'seq' in difference.expected ? ' (rows are numbered in the order of created_at)' : '';
    return `${difference.table} ${key}: ${describeAttributes(found, Object.entries(difference.expected))}${reason}`;
  }
  if (kind === 'usage') return `Usage ${key}: ${describeAmounts(found ?? {}, difference.expected, difference.others)}`;
  if (found === undefined) return `${key}: missing`;
  if (kind === 'block') return `${key}: ${difference.expected === undefined ? 'should not be there' : 'wrong'}`;
  const wrong = Object.entries(difference.expected).filter(
    ([name, value]) => !['dictionaries', 'tail'].includes(name) && found[name] !== value,
  );
  return `${key}: ${describeAttributes(found, wrong) || 'wrong dictionaries or tail'}`;
}

/** `others` are further items that count with both. */
function describeAmounts(found: Item, expected: Item, others: readonly Item[] = []): string {
  const sumOf = (name: string, first: Item) =>
    [first, ...others].reduce((sum, item) => sum + Number(item[name] ?? 0), 0);
  const wrong = Object.entries(expected).filter(
    ([name, amount]) => typeof amount !== 'string' && (found[name] ?? 0) !== amount,
  );
  return wrong.map(([name]) => `${name} ${sumOf(name, found)}, should be ${sumOf(name, expected)}`).join('; ');
}

function describeAttributes(found: Item, expected: readonly (readonly [name: string, value: unknown])[]): string {
  return expected
    .map(([name, value]) => `${name} ${JSON.stringify(found[name]) ?? 'missing'}, should be ${JSON.stringify(value)}`)
    .join('; ');
}

/**
 * Whether the next user would fail as well, because AWS cannot be reached or refuses. A fault that
 * AWS finds in an item belongs to the item's user.
 */
function isOfEveryUser(error: unknown): boolean {
  if (error instanceof ServiceError)
    return isUnavailable(error) && error.cause !== undefined && !isConflict(error.cause);
  return error instanceof Error && isOfAws(error) && error.name !== 'ValidationException';
}

function isOfAws(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  return (
    '$metadata' in error ||
    /^(ECONN|EHOST|ENET|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT)/.test(code) ||
    /Credentials|Timeout|Region is missing/.test(`${error.name} ${error.message}`)
  );
}

/** One sentence; for an unexpected error, all that is known of it. */
function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof SetupProblem) return error.message;
  if (error instanceof ServiceError) return `${error.name}: ${error.message}`;
  const isOfFile = 'syscall' in error && 'path' in error;
  if (isOfFile) return error.message;
  if (!isOfAws(error)) return error.stack ?? String(error);
  if (error.message === 'Region is missing') return 'No region: set AWS_REGION, or a profile that has one.';
  const name = error.name === 'Error' ? '' : `${error.name}: `;
  return `DynamoDB cannot be read: ${name}${error.message.split('\n')[0]}`;
}

function startProgress(names: RepairTables, fix: boolean, resume: boolean): Progress {
  const fresh: Progress = { tables: names, fix, scan: { users: [], reached: {} }, done: 0, differing: 0, failed: 0 };
  if (!resume) return fresh;
  const kept = readJson<Progress>(progressFile);
  if (kept === undefined) throw new SetupProblem(`There is nothing to resume: ${progressFile} does not exist.`);
  if (kept.tables.Columns !== names.Columns || kept.fix !== fix) {
    throw new SetupProblem(
      `${progressFile} is of another run: ${kept.tables.Columns}${kept.fix ? ' with --fix' : ''}.`,
    );
  }
  return { ...fresh, ...kept };
}

/** On a terminal a line that the next one replaces, otherwise at most one line in five seconds. */
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
