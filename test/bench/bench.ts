/**
 * `npm run bench` measures
 *
 * - what lists and writes cost at growing sizes, by DynamoDB's own count of consumed capacity;
 * - what the same lists cost in the usual way and in PostgreSQL;
 * - what each endpoint of users costs for one batch or job;
 * - what each call of a device costs, and how fast workers claim;
 * - how many changes a second several writers of one owner get done, when asked for;
 * - the size of the bundles, and how long they take to start.
 *
 * It prints tables of Markdown, and writes all figures to a file as JSON.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { getHeapStatistics } from 'node:v8';
import { batchList, jobList } from '../../functions/data/columns/lists.ts';
import { documentClient } from '../../functions/data/dynamodb/client.ts';
import { startDynamoDbLocal } from '../../infra/local/dynamodb/dynamodb-local.ts';
import { SetupProblem } from '../../infra/setup-problem.ts';
import { createTables } from '../support/create-tables.ts';
import { loadList } from '../support/load-list.ts';
import { measuredClient } from '../support/measured-client.ts';
import { benchRows } from './bench-rows.ts';
import { bundleTable } from './bundle-table.ts';
import { here, partsOf } from './checkout.ts';
import { claimTable, endpointTable } from './endpoint-table.ts';
import { prepareCases } from './list-cases.ts';
import { comparisonTable, listGrowth, listSummary, listTable, timesTable } from './list-tables.ts';
import { type BundleResult, measureBundles } from './measure-bundles.ts';
import { measureClaims, measureDevices } from './measure-devices.ts';
import { type EndpointBench, type EndpointResult, measureEndpoints } from './measure-endpoints.ts';
import { type Bench, type ListResult, measureLists } from './measure-lists.ts';
import { measurePages, type PageResult } from './measure-pages.ts';
import { type MemoryResult, measureMemory } from './measure-processes.ts';
import { measureRequests, type RequestResult } from './measure-requests.ts';
import { measureWriters, type WriterResult } from './measure-writers.ts';
import { memoryTable } from './memory-table.ts';
import { pageTable } from './page-table.ts';
import { type Postgres, postgres } from './postgres.ts';
import { requestTable } from './request-table.ts';
import { rowsOnPages } from './rows-on-pages.ts';
import { writerTable } from './writer-table.ts';

const userId = 'auth0|6571f2d6c9a1b20012bench0';

/**
 * `runs` of each query, `rounds` of loading every bundle, and for how long the CPU time of each
 * page is measured; whether batches of thousands of jobs are measured.
 */
const thorough = { runs: 5, rounds: 21, pageMilliseconds: 2_000, large: true, claims: 400 };
const quick: typeof thorough = { runs: 1, rounds: 7, pageMilliseconds: 500, large: false, claims: 100 };

/**
 * From so many batches on just the rows that pages need are written, and the usual way is not
 * measured.
 */
const onlyRowsOnPages = 500_000;

let lastLine = 0;

const usage = `npm run bench -- [--sizes 100,10000,100000] [--json .local/bench.json] [--quick] [--beside DIR] [--only endpoints|devices|lists|writers]
  --sizes  numbers of batches, a user each; from 500000 on only the rows that pages need are written
  --json   where the figures go as JSON
  --quick  sizes 100 and 10000, every query once, fewer rounds, no batch of 5,000 jobs
  --beside the folder of another checkout, with its packages: its lists are measured in turns with this one's
  --only   endpoints: just the calls of users to single batches and jobs; devices: just those of devices; lists: just lists and writes; writers: just how many
           changes of one owner are made in a second`;

class Interrupted extends Error {}

const interrupted = new Promise<never>((_, reject) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => reject(new Interrupted(signal)));
});
// The signal may come while nobody waits for it.
interrupted.catch(() => {});

try {
  await main();
} catch (error) {
  // The interrupted work still goes on.
  if (error instanceof Interrupted) process.exit(130);
  if (!(error instanceof SetupProblem)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

/** DynamoDB Local is stopped and PostgreSQL's schema is dropped however the measurement ends. */
async function main() {
  const asked = options();
  const local = await startDynamoDbLocal();
  try {
    const database = await comparison();
    try {
      await Promise.race([measureAll(asked, local.endpoint, database), interrupted]);
    } finally {
      await database?.drop();
    }
  } finally {
    await local.stop();
  }
}

async function measureAll(
  { sizes, json, effort, only, beside }: Options,
  endpoint: string,
  database: Postgres | undefined,
) {
  const machine = { node: process.version, cpu: cpus()[0]?.model, cpus: cpus().length };
  const devices = only === undefined || only === 'devices' ? await measureOfDevices(endpoint, effort) : undefined;
  if (only === 'writers') return write(json, { machine, writers: await measureOfWriters(endpoint, beside) });
  if (only === 'devices') return write(json, { machine, ...devices });
  const endpoints: EndpointResult[] = [];
  if (only !== 'lists') {
    endpoints.push(...(await collected(measureEndpoints(await connect(endpoint, 'endpoints'), effort), 'endpoints')));
    console.log(`\n${endpointTable('user endpoints', endpoints)}`);
  }
  if (only === 'endpoints') return write(json, { machine, endpoints });
  const bundles: BundleResult[] = [];
  if (only !== 'lists') {
    bundles.push(...(await measureBundles(effort.rounds, (round) => progress(`bundles, round ${round}`))));
    console.log(`\n${bundleTable(bundles)}`);
  }
  const lists: ListResult[] = [];
  const pages: PageResult[] = [];
  const memory: MemoryResult[] = [];
  const requests: RequestResult[] = [];
  for (const size of sizes) {
    const bench = await load(endpoint, { size, runs: effort.runs, database, beside });
    const ofSize = await collected(measureLists(bench), `${size} batches`);
    console.log(`\n${listTable(size, ofSize)}\n\n${timesTable(size, ofSize)}\n\n${comparisonTable(size, ofSize)}`);
    lists.push(...ofSize);
    const pagesOfSize = await collected(measurePages(bench, effort.pageMilliseconds), `${size} batches`);
    console.log(`\n${pageTable(size, pagesOfSize)}`);
    pages.push(...pagesOfSize);
    const memoryOfSize = await collected(measureMemory(bench), `${size} batches`);
    console.log(`\n${memoryTable(size, memoryOfSize)}`);
    memory.push(...memoryOfSize);
    const requestsOfSize = await collected(measureRequests(bench), `${size} batches`);
    console.log(`\n${requestTable(size, requestsOfSize)}`);
    requests.push(...requestsOfSize);
  }
  console.log(`\n${listGrowth(lists)}\n\n${listSummary(lists)}`);
  write(json, {
    machine,
    postgres: database?.version ?? null,
    endpoints,
    ...devices,
    lists,
    requests,
    bundles,
    pages,
    memory,
  });
}

async function measureOfDevices(endpoint: string, effort: typeof thorough) {
  const devices = await collected(measureDevices(await connect(endpoint, 'devices')), 'devices');
  console.log(`\n${endpointTable('device endpoints', devices)}`);
  // A client that is not measured: transactions are made as they are.
  const client = documentClient(60_000);
  const tables = await createTables(client, 'claims-');
  const claims = await collected(measureClaims(client, tables, effort.claims), 'claims');
  console.log(`\n${claimTable(claims)}`);
  return { devices, claims };
}

async function measureOfWriters(endpoint: string, beside: string | undefined): Promise<WriterResult[]> {
  useLocal(endpoint);
  const writers = await collected(measureWriters(beside === undefined ? undefined : resolve(beside)), 'writers');
  console.log(`\n${writerTable(writers)}`);
  return writers;
}

function write(json: string, figures: object) {
  mkdirSync(dirname(json), { recursive: true });
  writeFileSync(json, `${JSON.stringify(figures, undefined, 2)}\n`);
  console.log(`\nAll figures: ${json}`);
}

async function collected<Result extends { readonly name: string }>(
  results: AsyncIterable<Result>,
  what: string,
): Promise<Result[]> {
  const all: Result[] = [];
  for await (const result of results) {
    all.push(result);
    progress(`${what}: ${result.name}`);
  }
  return all;
}

interface Options {
  readonly sizes: readonly number[];
  readonly json: string;
  readonly effort: typeof thorough;
  readonly only: string | undefined;
  /** The folder of another checkout. */
  readonly beside: string | undefined;
}

function options(): Options {
  const { values } = parseArgs({
    options: {
      sizes: { type: 'string' },
      json: { type: 'string', default: '.local/bench.json' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      beside: { type: 'string' },
    },
  });
  const sizes = (values.sizes ?? (values.quick ? '100,10000' : '100,10000,100000')).split(',').map(Number);
  if (sizes.some((size) => !Number.isInteger(size) || size < 100)) {
    throw new SetupProblem(`Sizes are whole numbers from 100 on.\n${usage}`);
  }
  if (values.only !== undefined && !['endpoints', 'devices', 'lists', 'writers'].includes(values.only))
    throw new SetupProblem(usage);
  return {
    sizes,
    json: values.json,
    effort: values.quick ? quick : thorough,
    only: values.only,
    beside: values.beside,
  };
}

async function comparison(): Promise<Postgres | undefined> {
  const url = process.env.DATABASE_URL;
  if (url === undefined) {
    console.log('PostgreSQL is not measured: DATABASE_URL names no server.');
    return undefined;
  }
  return postgres(url);
}

function useLocal(endpoint: string) {
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: 'eu-west-3',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  });
}

/** A client that is measured, and tables of their own. */
async function connect(endpoint: string, prefix: string): Promise<EndpointBench> {
  useLocal(endpoint);
  // The client of the functions, with time for a machine that others use too.
  const client = documentClient(60_000);
  const tables = await createTables(client, `${prefix}-`);
  return { client, measure: measuredClient(client), tables, userId };
}

/** About 2.5 KB for each batch, with its jobs. Throws SetupProblem. */
function requireMemory(size: number) {
  const needed = Math.ceil((size * 2_500) / 2 ** 20);
  if (getHeapStatistics().heap_size_limit / 2 ** 20 > needed) return;
  throw new SetupProblem(
    `${size} batches take ${needed} MB: NODE_OPTIONS=--max-old-space-size=${2 * needed} npm run bench -- …`,
  );
}

interface ListsToLoad {
  readonly size: number;
  readonly runs: number;
  readonly database: Postgres | undefined;
  readonly beside: string | undefined;
}

async function load(endpoint: string, { size, runs, database, beside }: ListsToLoad): Promise<Bench> {
  const connection = await connect(endpoint, String(size));
  const { client, tables } = connection;
  requireMemory(size);
  const rows = benchRows(userId, size);
  progress(`${size} batches: the right answers`);
  const cases = prepareCases(rows);
  const isComplete = size < onlyRowsOnPages;
  const only = isComplete ? undefined : rowsOnPages(rows, cases);
  for (const [list, name] of [[batchList, 'batches'] as const, [jobList, 'jobs'] as const]) {
    const loaded = progressOf(`${size} batches: loading ${name}`);
    const sealed = () => true;
    await loadList(client, tables, { list, userId, rows: rows[name], only: only?.[name], sealed, progress: loaded });
  }
  const owners = [{ root: here, tables, userId }];
  if (beside !== undefined) {
    const root = resolve(beside);
    const { createTables, loadList, batchList, jobList } = await partsOf(root);
    // The rows are the same ones.
    const { Columns } = await createTables(client, `${size}-beside-`);
    const only: ReadonlySet<number> = new Set();
    for (const [list, name] of [[batchList, 'batches'] as const, [jobList, 'jobs'] as const]) {
      const loaded = progressOf(`${size} batches: loading ${name} beside`);
      await loadList(client, { ...tables, Columns }, { list, userId, rows: rows[name], only, progress: loaded });
    }
    owners.push({ root, tables: { ...tables, Columns }, userId });
  }
  if (database !== undefined) {
    progress(`${size} batches: loading PostgreSQL`);
    await database.load(size, rows);
  }
  return { ...connection, size, rows, cases, isComplete, runs, owners, postgres: database };
}

function progressOf(what: string) {
  return (done: number, of: number) => progress(`${what}, ${Math.floor((100 * done) / of)} %`);
}

/**
 * One line that is overwritten where the terminal allows it, otherwise a new line every ten
 * seconds.
 */
function progress(text: string) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
  else if (performance.now() > lastLine + 10_000) {
    lastLine = performance.now();
    console.error(text);
  }
}
