import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { BatchStatus, JobOrigin, JobStatus, QueuePriority } from '../../functions/schemas/values.ts';
import type { BenchRows } from './bench-rows.ts';
import { type Filter, filtersOf } from './filter-forms.ts';
import type { ListName, ListQuery } from './list-cases.ts';
import { median } from './median.ts';

/** Milliseconds that the server plans and executes, without sending the rows. */
export interface PostgresTimes {
  readonly count: number;
  readonly page: number;
}

export interface Postgres {
  readonly version: string;
  load(size: number, rows: BenchRows): Promise<void>;
  measure(size: number, userId: string, list: ListName, query: ListQuery): Promise<PostgresTimes & { total: number }>;
  /** Ends running statements and drops the schema with everything in it. */
  drop(): Promise<void>;
}

const runs = 5;

const columns = {
  batches: `user_id text, seq bigint, id uuid, parent_id uuid, project_id uuid, status batch_status, open boolean,
    device_type text, queue_priority queue_priority, tags text[], jobs_count integer, jobs_count_per_status jsonb,
    created_at timestamptz, updated_at timestamptz, start_datetime timestamptz, end_datetime timestamptz,
    device_status text, webhook text, configuration jsonb, backend_configuration jsonb, PRIMARY KEY (user_id, id)`,
  jobs: `user_id text, seq bigint, id uuid, parent_id uuid, batch_id uuid, project_id uuid, status job_status, runs integer,
    origin job_origin, creation_order integer, created_at timestamptz, updated_at timestamptz,
    start_timestamp timestamptz, end_timestamp timestamptz, variables jsonb, errors text[], results_key text,
    PRIMARY KEY (user_id, id)`,
} as const satisfies Record<ListName, string>;

/**
 * Each index begins with the owner, because every query names one. The index of tags is of another
 * kind.
 */
const indexes = {
  batches: [
    '(user_id, seq)',
    '(user_id, status, seq)',
    '(user_id, start_datetime)',
    '(user_id, jobs_count, seq)',
    'USING gin (tags)',
  ],
  jobs: [
    '(user_id, seq)',
    '(user_id, status, seq)',
    '(user_id, batch_id, creation_order)',
    '(user_id, start_timestamp)',
  ],
} as const satisfies Record<ListName, readonly string[]>;

const types = {
  batch_status: BatchStatus,
  queue_priority: QueuePriority,
  job_status: JobStatus,
  job_origin: JobOrigin,
};

/**
 * Loads the same rows into a schema of its own of PostgreSQL, with the program `psql`. Throws when
 * the server cannot be reached.
 */
export async function postgres(url: string): Promise<Postgres> {
  const schema = `bench_${process.pid}_${Date.now()}`;
  const running = new Set<ChildProcess>();
  const run = (script: Iterable<string>) => psql(url, schema, script, running);
  const version = (await run(['SHOW server_version;\n'])).trim();
  await run([
    `CREATE SCHEMA ${schema};\n`,
    ...Object.entries(types).map(
      ([name, { options }]) => `CREATE TYPE ${name} AS ENUM (${options.map(literal).join(', ')});\n`,
    ),
  ]);
  return {
    version,
    async load(size, rows) {
      for (const list of ['batches', 'jobs'] as const) await run(loading(list, size, rows[list]));
    },
    async measure(size, userId, list, query) {
      const where = conditions(userId, list, query);
      const count = `SELECT count(*) FROM ${list}_${size} WHERE ${where}`;
      const page = `SELECT * FROM ${list}_${size} WHERE ${where} ${pageOf(query)}`;
      const analyze = (statement: string) => `EXPLAIN (ANALYZE, TIMING OFF) ${statement};\n`;
      const output = await run([
        `${count};\n`,
        ...Array.from({ length: runs + 1 }, () => analyze(count) + analyze(page)),
      ]);
      const times = Array.from(output.matchAll(/^(?:Planning|Execution) Time: ([\d.]+) ms$/gm), ([, time]) =>
        Number(time),
      );
      // The first run warms the caches.
      const measured = Array.from({ length: runs }, (_, at) => times.slice(4 * (at + 1), 4 * (at + 2)));
      const both = (from: number) => median(measured.map((run) => Number(run[from]) + Number(run[from + 1])));
      return { total: Number.parseInt(output, 10), count: both(0), page: both(2) };
    },
    async drop() {
      for (const child of running) child.kill();
      await run([`SET client_min_messages = warning;\nDROP SCHEMA ${schema} CASCADE;\n`]);
    },
  };
}

function* loading(list: ListName, size: number, rows: readonly object[]): Generator<string> {
  const table = `${list}_${size}`;
  yield `CREATE TABLE ${table} (${columns[list]});\nCREATE TEMP TABLE loaded (row jsonb);\n`;
  // JSON text never holds this quote and delimiter, so a line is a row.
  yield `COPY loaded FROM STDIN (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02');\n`;
  for (const row of rows)
    yield `${JSON.stringify(row, (_, value) => (isJsonText(value) ? JSON.parse(value) : value))}\n`;
  yield `\\.\nINSERT INTO ${table} SELECT (jsonb_populate_record(NULL::${table}, row)).* FROM loaded;\n`;
  for (const index of indexes[list]) yield `CREATE INDEX ON ${table} ${index};\n`;
  yield `VACUUM ANALYZE ${table};\n`;
}

function isJsonText(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith('{');
}

function conditions(userId: string, list: ListName, query: ListQuery): string {
  return [`user_id = ${literal(userId)}`, ...filtersOf(list, query).map(condition)].join(' AND ');
}

function condition({ attribute, operator, value }: Filter): string {
  if (operator === 'in') return `${attribute} IN (${[value].flat().map(literal).join(', ')})`;
  if (operator === 'contains') return `${attribute} @> ARRAY[${literal(value)}]`;
  if (operator === 'not empty') return `cardinality(${attribute}) > 0`;
  if (operator === 'starts with') {
    const uuid = (fill: string) =>
      literal(
        `${String(value)}${`00000000-0000-0000-0000-000000000000`.slice(String(value).length).replaceAll('0', fill)}`,
      );
    return `${attribute} BETWEEN ${uuid('0')} AND ${uuid('f')}`;
  }
  return `${attribute} ${operator} ${literal(value)}`;
}

function pageOf({ order_by, order_by_direction: direction, limit, offset }: ListQuery): string {
  const order = order_by === 'created_at' ? '' : `${order_by} ${direction} NULLS LAST, `;
  return `ORDER BY ${order}seq ${direction} LIMIT ${limit} OFFSET ${offset}`;
}

function literal(value: unknown): string {
  return `'${String(value).replaceAll("'", "''")}'`;
}

async function psql(
  url: string,
  schema: string,
  script: Iterable<string>,
  running: Set<ChildProcess>,
): Promise<string> {
  const child = spawn('psql', [url, '-XqAt', '-v', 'ON_ERROR_STOP=1'], {
    env: { ...process.env, PGOPTIONS: `-c search_path=${schema}` },
  });
  running.add(child);
  const [output, complaint] = [text(child.stdout), text(child.stderr)];
  const ended = once(child, 'exit');
  await pipeline(Readable.from(script), child.stdin).catch(() => {});
  const [code] = await ended;
  running.delete(child);
  if (code !== 0) throw new Error(`psql failed: ${await complaint}`);
  return output;
}
