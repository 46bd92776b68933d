/**
 * `npm run bench` measures what lists, writes and the calls of users and machines cost, by
 * DynamoDB's own count of consumed capacity, and what the bundles weigh. It writes the figures to
 * docs/reference/performance.json. Figures that it did not measure stay there. `npm run docs` makes
 * tables of all figures.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { getHeapStatistics } from 'node:v8';
import { batchList, jobList } from '../../functions/data/columns/lists.ts';
import { documentClient } from '../../functions/data/dynamodb/client.ts';
import { readJsonFile } from '../../infra/commands/json-file.ts';
import { SetupProblem } from '../../infra/commands/setup-problem.ts';
import { type Figures, listTable, markdownTable, postgresqlTable } from '../../infra/docs/performance.ts';
import { startDynamoDbLocal } from '../../infra/local/dynamodb/dynamodb-local.ts';
import { createTables } from '../support/create-tables.ts';
import { loadList } from '../support/load-list.ts';
import { measuredClient } from '../support/measured-client.ts';
import { patientClock } from '../support/test-db.ts';
import { benchRows } from './bench-rows.ts';
import { prepareCases } from './list-cases.ts';
import { measureBundles } from './measure-bundles.ts';
import { measureClaims, measureDevices } from './measure-devices.ts';
import { type EndpointBench, type Measured, measureEndpoints } from './measure-endpoints.ts';
import { measureEvents } from './measure-events.ts';
import { type ListBench, measureLists } from './measure-lists.ts';
import { measureLocalStack } from './measure-local-stack.ts';
import { comparedCases, measurePostgresql } from './measure-postgresql.ts';
import { measureThrottling } from './measure-throttling.ts';
import { measureWorkers } from './measure-workers.ts';
import { measureWriters } from './measure-writers.ts';
import { hasPostgreSql, startPostgreSql } from './postgresql.ts';
import { rowsOnPages } from './rows-on-pages.ts';

const userId = 'auth0|6571f2d6c9a1b20012bench0';
/** Lists of at least this number of batches get only the rows that pages need. */
const minRowsOnPages = 500_000;
/** Lists of fewer batches are not compared with PostgreSQL. */
const minComparedRows = 10_000;
const sections = [
  'lists',
  'postgresql',
  'events',
  'endpoints',
  'devices',
  'writers',
  'throttling',
  'bundles',
  'stack',
] as const;
type Section = (typeof sections)[number];

const usage = `npm run bench -- [--sizes 1000,10000,100000] [--only lists,events] [--json docs/reference/performance.json] [--quick]
  --sizes  numbers of batches for the lists, each of a user of its own; 1000000 takes half an hour
  --only   some of ${sections.join(', ')};
           postgresql compares lists from ${minComparedRows} batches on with the machine's own PostgreSQL: its
           programs are on the PATH, or in the folder POSTGRES_BIN; without them all other sections run
  --json   the file that holds the figures; what is not measured stays as it is
  --quick  sizes 100 and 10000, fewer rounds, no batch of 5,000 jobs; throttling with 300 jobs a call`;

let lastLine = 0;

try {
  await main();
} catch (error) {
  if (!(error instanceof SetupProblem)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function main() {
  const { sizes, chosen, json, isQuick } = options();
  const local = await startDynamoDbLocal();
  // DynamoDB Local ends with the measurement, also when that is interrupted.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void local.stop().finally(() => process.exit(130)));
  }
  try {
    Object.assign(process.env, {
      AWS_ENDPOINT_URL_DYNAMODB: local.endpoint,
      AWS_REGION: 'eu-west-3',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
    });
    for (const section of chosen) await measureSection(section, { sizes, json, isQuick });
  } finally {
    await local.stop();
  }
}

interface Effort {
  readonly sizes: readonly number[];
  readonly json: string;
  readonly isQuick: boolean;
}

async function measureSection(section: Section, { sizes, json, isQuick }: Effort) {
  if (section === 'lists') {
    for (const size of sizes) {
      const figures = await collected(measureLists(await load(size, isQuick ? 1 : 5)), `${size} batches`);
      write(json, ({ lists }) => ({ lists: { ...lists, [size]: figures } }));
      console.log(`\n${listTable({ [size]: figures })}`);
    }
  } else if (section === 'postgresql') {
    const compared = sizes.filter((size) => size >= minComparedRows);
    for (const size of compared) await comparePostgreSql(size, { json, runs: isQuick ? 3 : 15 });
  } else if (section === 'bundles') {
    const figures = await measureBundles(isQuick ? 7 : 21, (round) => progress(`bundles, round ${round}`));
    show(json, { bundles: reported(figures, 'bundles') });
  } else if (section === 'stack') {
    const figures = await measureLocalStack(isQuick ? 1_000 : 10_000, (done) => progress(`local stack, call ${done}`));
    show(json, { localStack: reported(figures, 'local stack') });
  } else if (section === 'devices') {
    show(json, { devices: await collected(measureDevices(await connect('devices')), section) });
    const plain = documentClient(60_000);
    const claims = measureClaims(plain, await createTables(plain, 'claims-'), isQuick ? 100 : 400);
    show(json, { claims: await collected(claims, 'claims') });
  } else if (section === 'throttling') {
    const figures = measureThrottling(String(process.env.AWS_ENDPOINT_URL_DYNAMODB), isQuick ? 300 : 5_000);
    show(json, { throttling: await collected(figures, section) });
  } else if (section === 'writers') {
    const plain = documentClient(60_000);
    const writers = measureWriters(plain, await createTables(plain, 'writers-'));
    show(json, { writers: await collected(writers, section) });
    const workers = measureWorkers(plain, await createTables(plain, 'workers-'));
    show(json, { workers: await collected(workers, 'workers') });
  } else {
    const bench = await connect(section);
    const calls = section === 'events' ? measureEvents(bench) : measureEndpoints(bench, { large: !isQuick });
    show(json, { [section]: await collected(calls, section) });
  }
}

async function comparePostgreSql(size: number, { json, runs }: { json: string; runs: number }) {
  const server = await startPostgreSql();
  try {
    const bench = await load(size, runs, comparedCases);
    const figures = await collected(measurePostgresql(bench, server), `${size} batches beside PostgreSQL`);
    write(json, ({ postgresql }) => ({ postgresql: { ...postgresql, [size]: figures } }));
    console.log(`\n${postgresqlTable({ [size]: figures })}`);
  } finally {
    await server.stop();
  }
}

async function collected<Figure extends { readonly name: string }>(
  results: AsyncIterable<Measured<Figure>>,
  what: string,
): Promise<Figure[]> {
  const all: Measured<Figure>[] = [];
  for await (const result of results) {
    all.push(result);
    progress(`${what}: ${result.name}`);
  }
  return reported(all, what);
}

/** The figures. Prints what exceeds its budget. */
function reported<Figure extends { readonly name: string }>(
  results: readonly Measured<Figure>[],
  what: string,
): Figure[] {
  for (const { name, excesses } of results) {
    if (excesses.length > 0) console.log(`Over budget, ${what}, ${name}: ${excesses.join(', ')}`);
  }
  return results.map(({ excesses: _, ...figure }) => figure as unknown as Figure);
}

function show(json: string, figures: Figures) {
  write(json, () => figures);
  for (const rows of Object.values(figures) as object[][]) {
    const headings = Object.keys(rows[0] ?? {});
    console.log(`\n${markdownTable(headings, rows.map(Object.values))}`);
  }
}

function write(json: string, merge: (before: Figures) => Figures) {
  const before = readJsonFile<Figures>(json) ?? {};
  const figures = { ...before, ...merge(before) };
  const rounded = (_: string, value: unknown) => (typeof value === 'number' ? Number(value.toFixed(2)) : value);
  // A line for each figure.
  const text = JSON.stringify(figures, rounded, 1).replace(
    /\{\s+("name"[^{}]*?)\s+\}/g,
    (_, members: string) => `{ ${members.replace(/\n\s*/g, ' ')} }`,
  );
  mkdirSync(dirname(json), { recursive: true });
  writeFileSync(json, `${text}\n`);
}

function options() {
  const { values } = parseArgs({
    options: {
      sizes: { type: 'string' },
      json: { type: 'string' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
    },
  });
  const sizes = (values.sizes ?? (values.quick ? '100,10000' : '1000,10000,100000')).split(',').map(Number);
  if (sizes.some((size) => !Number.isInteger(size) || size < 100)) {
    throw new SetupProblem(`Sizes are whole numbers of at least 100.\n${usage}`);
  }
  const isSkipped = values.only === undefined && !hasPostgreSql();
  if (isSkipped) console.log('No PostgreSQL on the PATH or in POSTGRES_BIN: it is not compared.');
  const possible = sections.filter((section) => section !== 'postgresql' || !isSkipped);
  const wanted = values.only?.split(',') ?? possible;
  if (wanted.some((name) => !sections.includes(name as Section))) throw new SetupProblem(usage);
  const chosen = sections.filter((section) => wanted.includes(section));
  const json = values.json ?? (values.quick ? '.local/bench.json' : 'docs/reference/performance.json');
  return { sizes, chosen, json, isQuick: values.quick };
}

/** A database whose client is measured, with tables of its own. */
async function connect(prefix: string): Promise<EndpointBench> {
  // The client of the functions, with time for a machine that others use too. DynamoDB Local
  // throttles nothing: so nothing is paced.
  const client = documentClient(60_000);
  const tables = await createTables(client, `${prefix}-`);
  const db = { client, tables, clock: { ...patientClock(), sleep: async () => {} } };
  return { db, measure: measuredClient(client), userId };
}

/**
 * With the names of the cases that are compared, only what these read is loaded, into tables of
 * their own.
 */
async function load(size: number, runs: number, compared?: ReadonlySet<string>): Promise<ListBench> {
  const connection = await connect(compared === undefined ? String(size) : `compared-${size}`);
  const { client, tables } = connection.db;
  requireMemory(size);
  const rows = benchRows(userId, size);
  progress(`${size} batches: the right answers`);
  const cases = prepareCases(rows, compared);
  const only = size < minRowsOnPages && compared === undefined ? undefined : rowsOnPages(rows, cases);
  for (const [list, name] of [[batchList, 'batches'] as const, [jobList, 'jobs'] as const]) {
    if (compared !== undefined && name === 'jobs') continue;
    const loaded = (done: number, of: number) =>
      progress(`${size} batches: loading ${name}, ${Math.floor((100 * done) / of)} %`);
    const sealed = () => true;
    await loadList(client, tables, { list, userId, rows: rows[name], only: only?.[name], sealed, progress: loaded });
  }
  return { ...connection, size, rows, cases, runs };
}

/** About 2.5 KB for each batch, with its jobs. Throws SetupProblem. */
function requireMemory(size: number) {
  const needed = Math.ceil((size * 2_500) / 2 ** 20);
  if (getHeapStatistics().heap_size_limit / 2 ** 20 > needed) return;
  throw new SetupProblem(
    `${size} batches take ${needed} MB: NODE_OPTIONS=--max-old-space-size=${2 * needed} npm run bench -- …`,
  );
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
