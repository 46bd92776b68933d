import { isDeepStrictEqual } from 'node:util';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { listBatches } from '../../functions/data/batches.ts';
import { listJobs } from '../../functions/data/jobs.ts';
import type { Page } from '../../functions/data/lists/query.ts';
import type { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import type { JobListQuery } from '../../functions/schemas/job-list-query.ts';
import type { TableNames } from '../../functions/tables.ts';
import type { Cost, Measure } from '../support/measured-client.ts';
import type { BenchRows } from './bench-rows.ts';
import { defaults, type ListCase, type ListName, type ListQuery, walkBudget } from './list-cases.ts';
import { measureTimes, type QueriesOfOwners, type QueryTimes } from './measure-processes.ts';
import type { Postgres, PostgresTimes } from './postgres.ts';
import { usualWay } from './usual-way.ts';

export interface Bench extends QueriesOfOwners {
  readonly client: DynamoDBDocumentClient;
  readonly measure: Measure;
  readonly tables: TableNames;
  readonly userId: string;
  readonly rows: BenchRows;
  /** Whether all rows are stored, or only those that pages need. */
  readonly isComplete: boolean;
  readonly postgres: Postgres | undefined;
}

interface Timed extends Cost {
  readonly milliseconds: number;
}

export interface ListResult extends Timed, Omit<Partial<QueryTimes>, 'milliseconds'> {
  readonly name: string;
  readonly size: number;
  readonly total: number;
  /** Of the other checkout. */
  readonly beside?: QueryTimes;
  readonly budget?: { readonly units: number | undefined; readonly calls?: number; readonly depth?: number };
  readonly met?: boolean;
  readonly usual?: Timed;
  readonly postgres?: PostgresTimes;
}

type Lists = Readonly<Record<ListName, (query: ListQuery) => Promise<Page<{ readonly id: string }>>>>;

/**
 * Measures every query on the loaded rows. Throws when an answer differs from that of the rows as
 * an array.
 */
export async function* measureLists(bench: Bench): AsyncGenerator<ListResult> {
  const lists = listsOf(bench);
  const times = await measureTimes(bench);
  for (const listCase of bench.cases) {
    const { asked: query, expected } = listCase;
    const check = ({ items, total }: Page<{ readonly id: string }>) => {
      if (
        total !== expected.total ||
        !isDeepStrictEqual(
          expected.ids,
          items.map(({ id }) => id),
        )
      ) {
        throw new Error(`${listCase.name} of ${bench.size}: the answer is wrong.`);
      }
    };
    const { cost } = await bench.measure(async () => check(await lists[listCase.list](query)));
    const [own, beside] = times.get(listCase.name) as [QueryTimes, QueryTimes | undefined];
    yield {
      name: listCase.name,
      size: bench.size,
      total: expected.total,
      ...cost,
      ...own,
      ...(beside && { beside }),
      ...judged(listCase, bench.size, cost),
      ...(bench.isComplete &&
        listCase.usualWay !== false && { usual: await measureUsualWay(bench, listCase.list, query, expected) }),
      ...(bench.postgres !== undefined && { postgres: await measurePostgres(bench, listCase, query, expected.total) }),
    };
  }
  yield measureWalk(bench, lists);
}

/** Reads all jobs of the large batch page by page, as the Python client does. */
async function measureWalk(bench: Bench, lists: Lists): Promise<ListResult> {
  const { largeBatchId, jobs } = bench.rows;
  const order = { order_by: 'creation_order', order_by_direction: 'ASC' } as const;
  const total = jobs.filter((job) => job.batch_id === largeBatchId).length;
  const start = performance.now();
  const { cost } = await bench.measure(async () => {
    let seen = 0;
    for (let page: Page<unknown> | undefined; page === undefined || seen < page.total; seen += page.items.length) {
      page = await lists.jobs({ ...defaults, ...order, batch_id: [largeBatchId], offset: seen });
      if (page.items.length === 0) throw new Error('The walk ended too early.');
    }
    if (seen !== total) throw new Error('The walk found other jobs than there are.');
  });
  const name = `walk of a batch's jobs, ${Math.ceil(total / 100)} pages`;
  const milliseconds = performance.now() - start;
  return { name, size: bench.size, total, ...cost, milliseconds, ...judged({ budget: walkBudget }, bench.size, cost) };
}

function listsOf({ client, tables, userId }: Bench): Lists {
  const batches = listBatches(client, tables);
  const jobs = listJobs(client, tables);
  return {
    batches: (query) => batches(userId, query as BatchListQuery),
    jobs: (query) => jobs(userId, query as JobListQuery),
  };
}

function judged({ budget }: Pick<ListCase, 'budget'>, size: number, cost: Cost) {
  const units = budget?.units[size];
  if (budget === undefined || (units ?? budget.calls ?? budget.depth) === undefined) return {};
  const met =
    cost.readUnits <= (units ?? Infinity) &&
    cost.calls <= (budget.calls ?? Infinity) &&
    cost.depth <= (budget.depth ?? Infinity);
  return { budget: { ...budget, units }, met };
}

async function measureUsualWay(
  { client, tables, userId, measure }: Bench,
  list: ListName,
  query: ListQuery,
  expected: { readonly total: number },
): Promise<Timed> {
  const start = performance.now();
  const { value, cost } = await measure(() =>
    usualWay(client, list === 'batches' ? tables.Batches : tables.Jobs, userId, list, query),
  );
  const milliseconds = performance.now() - start;
  if (value.total !== expected.total) throw new Error('The usual way finds another total.');
  return { ...cost, milliseconds };
}

async function measurePostgres(
  { postgres, size, userId }: Bench,
  { name, list }: ListCase,
  query: ListQuery,
  total: number,
): Promise<PostgresTimes> {
  const measured = await postgres?.measure(size, userId, list, query);
  if (measured?.total !== total) throw new Error(`PostgreSQL finds another total: ${name}.`);
  return { count: measured.count, page: measured.page };
}
