/**
 * `npm run bench`: what lists cost at growing sizes, by DynamoDB's own count of consumed capacity, beside the usual way and
 * PostgreSQL. Figures on the screen, and as JSON in a file.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { batchList } from '../../functions/data/lists/batch-list.ts';
import { jobList } from '../../functions/data/lists/job-list.ts';
import { SetupProblem, startDynamoDbLocal } from '../../infra/local/dynamodb-local.ts';
import { createTables } from '../support/create-tables.ts';
import { loadList } from '../support/load-list.ts';
import { measuredClient } from '../support/measured-client.ts';
import { benchRows } from './bench-rows.ts';
import { comparisonTable, listGrowth, listTable } from './list-tables.ts';
import { type Bench, type ListResult, measureLists } from './measure-lists.ts';
import { type Postgres, postgres } from './postgres.ts';

const userId = 'auth0|6571f2d6c9a1b20012bench0';

const usage = `npm run bench -- [--sizes 100,10000,100000] [--json .local/bench.json] [--quick]
  --sizes  numbers of batches, a user each
  --json   where the figures go as JSON
  --quick  sizes 100 and 10000, every query once`;

try {
  await main();
} catch (error) {
  if (!(error instanceof SetupProblem)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function main() {
  const { sizes, json, runs } = options();
  const local = await startDynamoDbLocal();
  const database = await comparison();
  try {
    const lists: ListResult[] = [];
    for (const size of sizes) {
      const bench = await load(local.endpoint, size, runs, database);
      const results: ListResult[] = [];
      for await (const result of measureLists(bench)) {
        results.push(result);
        progress(`${size} batches: ${result.name}`);
      }
      console.log(`\n${listTable(size, results)}\n\n${comparisonTable(size, results)}`);
      lists.push(...results);
    }
    console.log(`\n${listGrowth(lists)}`);
    const machine = { node: process.version, cpu: cpus()[0]?.model, cpus: cpus().length };
    mkdirSync(dirname(json), { recursive: true });
    writeFileSync(json, `${JSON.stringify({ machine, postgres: database?.version ?? null, lists }, undefined, 2)}\n`);
    console.log(`\nAll figures: ${json}`);
  } finally {
    await database?.drop();
    await local.stop();
  }
}

function options() {
  const { values } = parseArgs({
    options: {
      sizes: { type: 'string' },
      json: { type: 'string', default: '.local/bench.json' },
      quick: { type: 'boolean', default: false },
    },
  });
  const sizes = (values.sizes ?? (values.quick ? '100,10000' : '100,10000,100000')).split(',').map(Number);
  if (sizes.some((size) => !Number.isInteger(size) || size < 100)) {
    throw new SetupProblem(`Sizes are whole numbers from 100 on.\n${usage}`);
  }
  return { sizes, json: values.json, runs: values.quick ? 1 : 5 };
}

async function comparison(): Promise<Postgres | undefined> {
  const url = process.env.DATABASE_URL;
  if (url === undefined) {
    console.log('PostgreSQL is not measured: DATABASE_URL names no server.');
    return undefined;
  }
  return postgres(url);
}

async function load(endpoint: string, size: number, runs: number, database: Postgres | undefined): Promise<Bench> {
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient({
      endpoint,
      region: 'eu-west-3',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    }),
  );
  const rows = benchRows(userId, size);
  const tables = await createTables(client as never, `${size}-`);
  for (const [list, ofList] of [[batchList, rows.batches] as const, [jobList, rows.jobs] as const]) {
    await loadList(client, tables, list, userId, ofList, (written, of) =>
      progress(`${size} batches: loading ${list.table.toLowerCase()}, ${Math.floor((100 * written) / of)} %`),
    );
  }
  if (database !== undefined) {
    progress(`${size} batches: loading PostgreSQL`);
    await database.load(size, rows);
  }
  return { client, measure: measuredClient(client), tables, userId, size, rows, runs, postgres: database };
}

/** One line that is written over where the screen allows it. */
function progress(text: string) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}
