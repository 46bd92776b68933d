/**
 * What start.ts runs: the whole service on 127.0.0.1 with demo data. `usage` in settings.ts says
 * what can be set.
 */

import { rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { SetupProblem } from '../commands/setup-problem.ts';
import { announceDevices } from './demo/announce-devices.ts';
import { introducePeople } from './demo/introduce-people.ts';
import { loadDemoData } from './demo/load-demo-data.ts';
import { requireJava } from './dynamodb/dynamodb-local.ts';
import { requireDynamoDb } from './dynamodb/require-dynamodb.ts';
import { openDataFolder } from './folder/data-folder.ts';
import { lockFolder } from './folder/folder-lock.ts';
import { startFrontServer } from './front-server.ts';
import { describeStack, greeting } from './greeting.ts';
import { type Account, accounts, deviceAccount, operatorAccount, projectAccounts } from './issuer/accounts.ts';
import { type LocalStack, startLocalStack } from './local-stack.ts';
import { readSettings, type Settings, usage } from './settings.ts';

const stateDirectory = resolve('.local');
const progressMilliseconds = 3_000;

let stack: LocalStack | undefined;
/** The files of this stack that go with it. */
let ownFiles: readonly string[] = [];
let ending = false;
/** Repeats the line that was shown last. */
let repeated: NodeJS.Timeout | undefined;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end(0));
// If npm is killed, nothing else would end this process.
if (process.env.npm_lifecycle_event !== undefined) {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) void end(1);
  }, 1_000).unref();
}

try {
  const settings = readSettings(process.argv.slice(2), process.env);
  if (settings === undefined) console.log(usage);
  else await start(settings);
} catch (error) {
  if (!ending) {
    console.error(error instanceof SetupProblem ? error.message : error);
    await end(1);
  }
}

async function start(settings: Settings) {
  const started = Date.now();
  const { port, data: dataDirectory, deliverWebhooks, dynamodbEndpoint } = settings;
  if (dynamodbEndpoint === undefined) requireJava();
  else await requireDynamoDb(dynamodbEndpoint);
  const front = await startFrontServer(port);
  const servedPort = Number(new URL(front.url).port);
  if (dataDirectory !== undefined) lockData(dataDirectory, servedPort);
  const folder = openDataFolder(dataDirectory);
  const files = await claimStateFiles(servedPort);
  ownFiles = files.isFirst ? [files.description] : [files.description, files.log];
  stack = await startLocalStack({
    front,
    dataDirectory,
    dynamodbEndpoint,
    deliverWebhooks,
    logFile: files.log,
    onStep: (step) => showProgress(`${step} …`),
  });
  if (ending) return;
  // Neither needs the other, and each waits for functions that load.
  await Promise.all([
    announceDevices(stack),
    loadDemoData(stack, folder, { size: settings, onProgress: showProgress }),
  ]);
  const [admin, member] = projectAccounts;
  await introducePeople(stack, [admin, member]);
  const { issuer } = stack;
  const withToken = async (account: Account) => ({ ...account, token: await issuer.token(account) });
  const users = await Promise.all([...accounts, ...projectAccounts].map(withToken));
  const description = describeStack(stack, {
    users,
    device: await withToken(deviceAccount),
    operator: await withToken(operatorAccount),
  });
  await writeFile(files.description, `${JSON.stringify(description, null, 2)}\n`);
  clearInterval(repeated);
  const text = greeting(description, {
    description: relative('', files.description),
    log: relative('', files.log),
  });
  console.log(`\nReady after ${((Date.now() - started) / 1000).toFixed(1)} s:\n\n${text}`);
}

async function end(code: number) {
  if (ending) return;
  ending = true;
  // Nothing that hangs may keep the process alive. Its exit ends what it started.
  setTimeout(() => process.exit(1), 10_000).unref();
  await stack?.stop();
  for (const file of ownFiles) await rm(file, { force: true });
  process.exit(code);
}

function lockData(directory: string, port: number) {
  const holder = lockFolder(directory, port);
  if (holder === undefined) return;
  throw new SetupProblem(`The folder ${directory} belongs to the local stack that serves port ${holder}.`);
}

/**
 * The first stack of a folder has the plain names, and its log stays for people to read. Another
 * one beside it has its port in the names.
 */
async function claimStateFiles(port: number) {
  const isFirst = lockFolder(stateDirectory, port) === undefined;
  const suffix = isFirst ? '' : `-${port}`;
  const description = join(stateDirectory, `stack${suffix}.json`);
  // A stack that was killed left its own.
  await rm(description, { force: true });
  return { isFirst, description, log: join(stateDirectory, `functions${suffix}.log`) };
}

/** Shows the line now, and again every few seconds until there is another one. */
function showProgress(line: string) {
  const since = Date.now();
  clearInterval(repeated);
  console.log(line);
  repeated = setInterval(
    () => console.log(`${line} ${Math.round((Date.now() - since) / 1000)} s`),
    progressMilliseconds,
  ).unref();
}
