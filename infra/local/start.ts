/**
 * `npm start`: the whole service on 127.0.0.1 with demo data. PORT chooses the port (3000; 0 is any free one),
 * AWS_ENDPOINT_URL_DYNAMODB a DynamoDB to use instead of starting DynamoDB Local.
 */

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { SetupProblem } from '../setup-problem.ts';
import { accounts } from './demo/accounts.ts';
import { loadDemoData } from './demo/load-demo-data.ts';
import { type LocalStack, startLocalStack } from './local-stack.ts';

const stateDirectory = resolve('.local');
const descriptionFile = join(stateDirectory, 'stack.json');

interface Settings {
  readonly port: number;
  readonly batches: number;
  readonly jobsPerBatch: number;
  readonly data: string | undefined;
}

let stack: LocalStack | undefined;
let ending = false;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end(0));
// A killed npm leaves this process to itself; nobody would ever end it.
if (process.env.npm_lifecycle_event !== undefined) {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) void end(1);
  }, 1_000).unref();
}

try {
  await start(readSettings());
} catch (error) {
  if (!ending) {
    console.error(error instanceof SetupProblem ? error.message : error);
    await end(1);
  }
}

async function start(settings: Settings) {
  const started = Date.now();
  stack = await startLocalStack({
    port: settings.port,
    dataDirectory: settings.data,
    dynamodbEndpoint: process.env.AWS_ENDPOINT_URL_DYNAMODB,
    logFile: join(stateDirectory, 'functions.log'),
    // That of a stack which was killed; one that runs would hold the port.
    onListening: () => rm(descriptionFile, { force: true }),
    onStep: (step) => console.log(`${step} …`),
  });
  if (ending) return;
  await loadDemoData(stack, settings, showProgress);
  const users = await Promise.all(
    accounts.map(async (account) => ({ ...account, token: await stack!.issuer.token(account) })),
  );
  const description = {
    baseUrl: stack.baseUrl,
    openapiUrl: `${stack.baseUrl}/openapi.json`,
    dynamodbEndpoint: stack.dynamodbEndpoint,
    objectStoreEndpoint: stack.objectStoreEndpoint,
    issuer: stack.issuer.url,
    tokenEndpoint: stack.issuer.tokenEndpoint,
    users: users.map(({ username, password, userId, token }) => ({ username, password, userId, token })),
  };
  await mkdir(stateDirectory, { recursive: true });
  await writeFile(descriptionFile, `${JSON.stringify(description, null, 2)}\n`);
  console.log(greeting(description, Date.now() - started));
}

async function end(code: number) {
  if (ending) return;
  ending = true;
  // Whatever hangs must not keep the process: its exit ends what it started.
  setTimeout(() => process.exit(1), 10_000).unref();
  await stack?.stop();
  if (stack !== undefined) await rm(descriptionFile, { force: true });
  process.exit(code);
}

function readSettings(): Settings {
  let values: { batches?: string; 'jobs-per-batch'?: string; data?: string };
  try {
    const options = {
      batches: { type: 'string' },
      'jobs-per-batch': { type: 'string' },
      data: { type: 'string' },
    } as const;
    values = parseArgs({ options }).values;
  } catch (error) {
    throw new SetupProblem(
      `${(error as Error).message.replaceAll('\n', ' ')} Usage: npm start -- [--batches N] [--jobs-per-batch M] [--data DIR]`,
    );
  }
  return {
    port: readNumber('PORT', process.env.PORT ?? '3000', 0, 65_535),
    batches: readNumber('--batches', values.batches ?? '300', 0, 1_000_000),
    jobsPerBatch: readNumber('--jobs-per-batch', values['jobs-per-batch'] ?? '4', 0, 1_000),
    data: values.data === undefined ? undefined : resolve(values.data),
  };
}

function readNumber(name: string, text: string, least: number, most: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= least && value <= most)) {
    throw new SetupProblem(`${name} is a whole number from ${least} to ${most}, not "${text}".`);
  }
  return value;
}

function showProgress(line: string, done: boolean) {
  if (process.stdout.isTTY) process.stdout.write(`\r${line}${done ? '\n' : ''}`);
  else console.log(line);
}

interface Description {
  readonly baseUrl: string;
  readonly openapiUrl: string;
  readonly tokenEndpoint: string;
  readonly users: readonly { username: string; password: string; token: string }[];
}

function greeting({ baseUrl, openapiUrl, tokenEndpoint, users }: Description, milliseconds: number): string {
  const [user] = users;
  const tokens = users
    .map(({ username, password, token }) => `${username} (password ${password})\n${token}`)
    .join('\n\n');
  return `
Ready after ${(milliseconds / 1000).toFixed(1)} s: ${baseUrl} (description: ${openapiUrl})

${tokens}

TOKEN=${user!.token}
curl -H "Authorization: Bearer $TOKEN" '${baseUrl}/api/v1/batches?status=RUNNING&limit=2'
curl -H "Authorization: Bearer $TOKEN" '${baseUrl}/api/v2/jobs?status=DONE&limit=2'
curl -H "Authorization: Bearer $TOKEN" '${baseUrl}/api/v1/jobs/JOB_ID/results_link'
curl -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"data":{"quiz-1":{"answer":42}}}' ${baseUrl}/api/v1/quizzes
curl -d grant_type=password -d username=${user!.username} -d password=${user!.password} ${tokenEndpoint}

Ctrl-C ends it. Addresses and tokens are in .local/stack.json, what the functions write in .local/functions.log.
`;
}
