import { isDeepStrictEqual } from 'node:util';
import { listBatches } from '../../functions/data/rows/batches.ts';
import { listJobs } from '../../functions/data/rows/jobs.ts';
import type { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import type { JobListQuery } from '../../functions/schemas/job-list-query.ts';
import type { Page } from '../../functions/values/page.ts';
import type { ListFigure } from '../../infra/docs/performance.ts';
import type { Cost } from '../support/measured-client.ts';
import { withoutRole } from '../support/without-role.ts';
import type { BenchRows } from './bench-rows.ts';
import {
  defaults,
  type ListBudget,
  type ListName,
  type ListQuery,
  type PreparedCase,
  walkBudget,
} from './list-cases.ts';
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

type Lists = Readonly<Record<ListName, (query: ListQuery) => Promise<Page<{ readonly id: string }>>>>;

/**
 * Measures every query on the loaded rows. Throws when an answer differs from that of the rows as
 * an array.
 */
export async function* measureLists(bench: ListBench): AsyncGenerator<Measured<ListFigure>> {
  const lists = listsOf(bench);
  for (const listCase of bench.cases) {
    const { name, list, asked, expected, budget } = listCase;
    const { value, cost } = await bench.measure(() => lists[list](asked));
    const ids = value.items.map(({ id }) => id);
    if (value.total !== expected.total || !isDeepStrictEqual(ids, expected.ids)) {
      throw new Error(`${name} of ${bench.size}: the answer is wrong.`);
    }
    const ofProcess = await measureProcess({ tables: bench.db.tables, userId: bench.userId }, listCase, bench.runs);
    yield { ...figureOf(name, expected.total, cost), ...ofProcess, excesses: excessesOf(bench.size, cost, budget) };
  }
  yield measureWalk(bench, lists);
}

/** Reads all jobs of the large batch page by page, as the Python client does. */
async function measureWalk({ rows, size, measure }: ListBench, lists: Lists): Promise<Measured<ListFigure>> {
  const { largeBatchId, jobs } = rows;
  const order = { order_by: 'creation_order', order_by_direction: 'ASC' } as const;
  const total = jobs.filter((job) => job.batch_id === largeBatchId).length;
  const { cost } = await measure(async () => {
    for (let offset = 0; offset < total; offset += defaults.limit) {
      const page = await lists.jobs({ ...defaults, ...order, batch_id: [largeBatchId], offset });
      if (page.total !== total || page.items.length === 0) throw new Error('The walk found other jobs than there are.');
    }
  });
  const name = 'all jobs of the largest batch, page by page';
  return { ...figureOf(name, total, cost), excesses: excessesOf(size, cost, walkBudget) };
}

function listsOf({ db, userId }: ListBench): Lists {
  return {
    batches: (query) => listBatches(db, withoutRole(userId), query as BatchListQuery),
    jobs: (query) => listJobs(db, withoutRole(userId), query as JobListQuery),
  };
}

function figureOf(name: string, total: number, { readUnits, calls, depth }: Cost): ListFigure {
  return { name, total, readUnits, calls, depth };
}

function excessesOf(size: number, cost: Cost, budget: ListBudget | undefined): string[] {
  if (budget === undefined) return [];
  const { units, ...others } = budget;
  return excesses(cost, { ...others, ...(units[size] !== undefined && { readUnits: units[size] }) });
}
