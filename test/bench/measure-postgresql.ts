/** Lists by this service and by PostgreSQL, with the same rows, in alternation. */

import { isDeepStrictEqual } from 'node:util';
import type { BatchRow } from '../../functions/schemas/batch.ts';
import type { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import type { PostgresqlFigure } from '../../infra/docs/performance.ts';
import { answerOfCounts, type ListAnswer } from './answer-list.ts';
import type { PreparedCase } from './list-cases.ts';
import type { Measured } from './measure-endpoints.ts';
import { type ListBench, measureList } from './measure-lists.ts';
import type { PostgreSql } from './postgresql.ts';
import { median } from './units.ts';

/** The names of the compared cases. */
export const comparedCases: ReadonlySet<string> = new Set([
  'unfiltered, first page',
  'unfiltered, at 90 %',
  'status, 85 % match',
  'status, 2 % match',
  'three filters, 3 % match',
  'tag, 5 % match',
  'tag and status',
  'created_after, latest 1 %',
  'order_by id, status',
  'count_by status',
  'count_by status, tag',
]);

const columns = {
  id: 'uuid',
  user_id: 'text',
  project_id: 'uuid',
  status: 'text',
  open: 'boolean',
  device_type: 'text',
  queue_priority: 'text',
  tags: 'text[]',
  jobs_count: 'integer',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  start_datetime: 'timestamptz',
  end_datetime: 'timestamptz',
} as const satisfies Partial<Record<keyof BatchRow, string>>;

const members = Object.entries(columns).map((column) => column.join(' '));
const schema = `DROP TABLE IF EXISTS batches;
CREATE TABLE batches (${members}, rest json, PRIMARY KEY (user_id, id));`;

/** After the rows. All work is left to the one process whose CPU time is measured. */
const indexes = `CREATE INDEX ON batches (user_id, created_at);
CREATE INDEX ON batches (user_id, status, created_at);
CREATE INDEX ON batches USING gin (tags);
VACUUM ANALYZE batches;
SET max_parallel_workers_per_gather = 0;`;

const rowsAtOnce = 10_000;

/** Throws when an answer of one of them differs from that of the rows as an array. */
export async function* measurePostgresql(
  bench: ListBench,
  postgresql: PostgreSql,
): AsyncGenerator<Measured<PostgresqlFigure>> {
  const { batches } = bench.rows;
  await postgresql.run(schema);
  for (let at = 0; at < batches.length; at += rowsAtOnce) {
    const lines = batches.slice(at, at + rowsAtOnce).map(csvOf);
    await postgresql.run(`COPY batches FROM STDIN (FORMAT csv);\n${lines.join('\n')}\n\\.`);
  }
  await postgresql.run(indexes);
  for (const listCase of bench.cases) {
    const statements = statementsOf(bench.userId, listCase.asked as BatchListQuery);
    const cpuTimes: number[] = [];
    const ours = await measureList(bench, listCase, async () => {
      const before = postgresql.cpuMilliseconds();
      const lines = await postgresql.run(statements.join('\n'));
      cpuTimes.push(postgresql.cpuMilliseconds() - before);
      if (!isDeepStrictEqual(answerOf(lines, listCase), listCase.expected)) {
        throw new Error(`${listCase.name} of ${bench.size}: PostgreSQL's answer is wrong.`);
      }
    });
    // Without the runs that warm up, as with ours.
    const postgresqlCpuMilliseconds = median(cpuTimes.slice(-bench.runs));
    yield { ...ours, postgresqlCpuMilliseconds, postgresqlBuffers: await buffersOf(postgresql, statements) };
  }
}

function csvOf(row: BatchRow): string {
  const rest = Object.fromEntries(Object.entries(row).filter(([name]) => !(name in columns)));
  const values = [...Object.keys(columns).map((name) => row[name as keyof typeof columns]), JSON.stringify(rest)];
  const texts = values.map((value) => (Array.isArray(value) ? `{${value}}` : value));
  return texts.map((value) => (value === null ? '' : `"${String(value).replaceAll('"', '""')}"`)).join(',');
}

/** One statement for `count_by`, otherwise one for the total and one for the page. */
function statementsOf(userId: string, query: BatchListQuery): string[] {
  const { count_by, order_by, order_by_direction, limit, offset, tag, created_after, ...others } = query;
  const list = (texts: readonly string[]) => texts.map((text) => `'${text.replaceAll("'", "''")}'`).join();
  const conditions = [
    `user_id IN (${list([userId])})`,
    ...(tag === undefined ? [] : [`tags && ARRAY[${list(tag)}]`]),
    ...(created_after === undefined ? [] : [`created_at >= ${list([created_after])}`]),
    ...Object.entries(others).map(([name, values]) => `${name} IN (${list(values as string[])})`),
  ];
  const from = `FROM batches WHERE ${conditions.join(' AND ')}`;
  if (count_by !== undefined) return [`SELECT ${count_by}, count(*) ${from} GROUP BY ${count_by};`];
  const page = `ORDER BY ${order_by} ${order_by_direction} LIMIT ${limit} OFFSET ${offset}`;
  return [`SELECT count(*) ${from};`, `SELECT * ${from} ${page};`];
}

function answerOf(lines: readonly string[], { expected }: PreparedCase): ListAnswer {
  const [firstCells, secondCells] = [0, 1].map((at) => lines.map((line) => String(line.split('|')[at])));
  if (expected.counts === undefined) return { ids: firstCells!.slice(1), total: Number(lines[0]) };
  const counts = Object.fromEntries(firstCells!.map((value, at) => [value, Number(secondCells![at])]));
  const none = Object.fromEntries(Object.keys(expected.counts).map((value) => [value, 0]));
  return answerOfCounts({ ...none, ...counts });
}

/** Pages of 8 KB that the statements touch in memory or read. */
async function buffersOf(postgresql: PostgreSql, statements: readonly string[]): Promise<number> {
  let buffers = 0;
  for (const statement of statements) {
    const lines = await postgresql.run(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`);
    const [{ Plan: plan }] = JSON.parse(lines.join('\n'));
    buffers += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  }
  return buffers;
}
