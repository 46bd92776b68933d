import { isDeepStrictEqual } from 'node:util';
import type { ListFigure } from '../../infra/docs/performance.ts';
import type { Cost } from '../support/measured-client.ts';
import { answerList } from './answer-list.ts';
import type { BenchRows } from './bench-rows.ts';
import { defaults, type ListBudget, type PreparedCase, walkBudget } from './list-cases.ts';
import type { EndpointBench, Measured } from './measure-endpoints.ts';
import { measureProcess } from './measure-processes.ts';
import { excesses } from './units.ts';

export interface ListBench extends EndpointBench {
  readonly size: number;
  readonly rows: BenchRows;
  readonly cases: readonly PreparedCase[];
  /** How often each query is answered to measure its CPU time. */
  readonly runs: number;
}

/**
 * Measures every query on the loaded rows. Throws when an answer differs from that of the rows as
 * an array.
 */
export async function* measureLists(bench: ListBench): AsyncGenerator<Measured<ListFigure>> {
  for (const listCase of bench.cases) yield await measureList(bench, listCase);
  yield measureWalk(bench);
}

/** One query; `between` runs after each answer of the process. */
export async function measureList(
  { db, userId, measure, size, runs }: ListBench,
  listCase: PreparedCase,
  between?: () => Promise<void>,
): Promise<Measured<ListFigure>> {
  const { name, list, asked, expected, budget } = listCase;
  const { value, cost } = await measure(() => answerList(db, userId, list, asked));
  if (!isDeepStrictEqual(value, expected)) throw new Error(`${name} of ${size}: the answer is wrong.`);
  const ofProcess = await measureProcess({ tables: db.tables, userId }, listCase, runs, between);
  return { ...figureOf(name, expected.total, cost), ...ofProcess, excesses: excessesOf(size, cost, budget) };
}

/** Reads all jobs of the large batch page by page, as the Python client does. */
async function measureWalk({ rows, size, measure, db, userId }: ListBench): Promise<Measured<ListFigure>> {
  const { largeBatchId, jobs } = rows;
  const order = { order_by: 'creation_order', order_by_direction: 'ASC' } as const;
  const total = jobs.filter((job) => job.batch_id === largeBatchId).length;
  const { cost } = await measure(async () => {
    for (let offset = 0; offset < total; offset += defaults.limit) {
      const query = { ...defaults, ...order, batch_id: [largeBatchId], offset };
      const page = await answerList(db, userId, 'jobs', query);
      if (page.total !== total || page.ids.length === 0) throw new Error('The walk found other jobs than there are.');
    }
  });
  const name = 'all jobs of the largest batch, page by page';
  return { ...figureOf(name, total, cost), excesses: excessesOf(size, cost, walkBudget) };
}

function figureOf(name: string, total: number, { readUnits, calls, depth }: Cost): ListFigure {
  return { name, total, readUnits, calls, depth };
}

function excessesOf(size: number, cost: Cost, budget: ListBudget | undefined): string[] {
  if (budget === undefined) return [];
  const { units, ...others } = budget;
  return excesses(cost, { ...others, ...(units[size] !== undefined && { readUnits: units[size] }) });
}
