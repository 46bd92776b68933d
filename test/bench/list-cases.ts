/** The measured list queries and their budgets. */

import type { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import type { JobListQuery } from '../../functions/schemas/job-list-query.ts';
import { countsOf, listOf } from '../support/list-oracle.ts';
import { answerOfCounts, type ListAnswer, type ListName, type ListQuery } from './answer-list.ts';
import type { BenchRows } from './bench-rows.ts';

/** The most read units by the number of batches, and the most calls and depth at any number. */
export interface ListBudget {
  readonly units: Readonly<Record<number, number>>;
  readonly calls?: number;
  readonly depth?: number;
}

interface ListCase {
  readonly name: string;
  readonly list: ListName;
  /** What differs from the defaults. It takes ids and times from the rows. */
  readonly query: (rows: BenchRows) => Partial<BatchListQuery> | Partial<JobListQuery>;
  /** Where the page starts, as a share of all rows that match; without it at the first row. */
  readonly start?: number;
  readonly budget?: ListBudget;
}

/** The API's defaults. */
export const defaults = { order_by: 'created_at', order_by_direction: 'DESC', limit: 100, offset: 0 } as const;

const units = (at100: number, at10000: number, at100000: number, at1000000: number) => ({
  100: at100,
  10000: at10000,
  100000: at100000,
  1000000: at1000000,
});
const flat: ListBudget = { units: units(16, 16, 10.5, 10.5), calls: 3, depth: 2 };
/** Every second row between its jobs is another batch's, and read in vain. */
const ofBatch: ListBudget = { units: units(22, 22, 22, 22), calls: 3, depth: 2 };
const mostMatch: ListBudget = { units: units(20, 30, 21, 62) };
const fewMatch: ListBudget = { units: units(20, 150, 90, 130) };
const threeFilters: ListBudget = { units: units(20, 130, 90, 130) };
const ofProject: ListBudget = { units: units(20, 130, 70, 110) };
const tagged: ListBudget = { units: { 100: 20, 10000: 80, 100000: 130 } };
const tagAndStatus: ListBudget = { units: units(20, 130, 130, 436) };
const started: ListBudget = { units: units(20, 80, 25, 70) };
const startedAndEnded: ListBudget = { units: units(20, 80, 35, 80) };
const fewSince: ListBudget = { units: units(20, 150, 95, 140) };
const mostBetween: ListBudget = { units: units(20, 80, 50, 90) };
const created: ListBudget = { units: units(20, 26, 20.5, 20.5), calls: 6, depth: 3 };
const byTime: ListBudget = { units: units(20, 240, 25, 40) };
const byTimeOfMost: ListBudget = { units: units(20, 240, 35, 70) };
const byFewValues: ListBudget = { units: units(20, 240, 120, 150) };
const byFirstIds: ListBudget = { units: units(20, 240, 15, 15) };
/** A page behind 900 rows, which are read in the order of ids. */
const behindIds: ListBudget = { units: units(100, 100, 100, 100) };
const byId: ListBudget = { units: units(20, 240, 291, 2_399) };
const byBatch: ListBudget = { units: units(20, 240, 323, 2_130) };
const counted: ListBudget = { units: units(4, 4, 8, 50), depth: 2 };
const countedOfTag: ListBudget = { units: units(5, 6, 36, 345), depth: 3 };

export const walkBudget: ListBudget = { units: { 10000: 2_200, 100000: 2_200 } };

const three = {
  status: ['DONE'],
  device_type: ['FRESNEL'],
  queue_priority: ['HIGH'],
} satisfies Partial<BatchListQuery>;
const done = { status: ['DONE'] } satisfies Partial<BatchListQuery>;
const ascending = { order_by_direction: 'ASC' } as const;

/** The time that comes after this share of all times of the rows. */
function quantile(rows: readonly object[], attribute: string, share: number): string {
  const times = rows.map((row) => Reflect.get(row, attribute)).filter((time) => typeof time === 'string');
  times.sort();
  return times[Math.floor(share * times.length)] ?? '';
}

/** The third most frequent one. */
function thirdProject(rows: BenchRows['batches']): string[] {
  const counts = Map.groupBy(rows, ({ project_id }) => project_id);
  const sorted = [...counts].sort(([, a], [, b]) => b.length - a.length);
  return sorted.slice(2, 3).map(([project]) => project);
}

const listCases: readonly ListCase[] = [
  { name: 'unfiltered, first page', list: 'batches', query: () => ({}), budget: flat },
  { name: 'unfiltered, at 50 %', list: 'batches', query: () => ({}), start: 0.5, budget: flat },
  { name: 'unfiltered, at 90 %', list: 'batches', query: () => ({}), start: 0.9, budget: flat },
  { name: 'unfiltered, ascending', list: 'batches', query: () => ascending, budget: flat },
  { name: 'unfiltered, ascending, at 90 %', list: 'batches', query: () => ascending, start: 0.9, budget: flat },
  { name: 'unfiltered, 10 rows', list: 'batches', query: () => ({ limit: 10 }), budget: flat },
  { name: 'status, 85 % match', list: 'batches', query: () => ({ status: ['DONE'] }), budget: mostMatch },
  {
    name: 'status, 85 % match, at 90 %',
    list: 'batches',
    query: () => ({ status: ['DONE'] }),
    start: 0.9,
    budget: mostMatch,
  },
  { name: 'status, 2 % match', list: 'batches', query: () => ({ status: ['ERROR'] }), budget: fewMatch },
  {
    name: 'status, 2 % match, at 50 %',
    list: 'batches',
    query: () => ({ status: ['ERROR'] }),
    start: 0.5,
    budget: fewMatch,
  },
  { name: 'three filters, 3 % match', list: 'batches', query: () => three, budget: threeFilters },
  { name: 'three filters, 3 % match, at 85 %', list: 'batches', query: () => three, start: 0.85, budget: threeFilters },
  {
    name: 'three filters, 3 % match, 10 rows',
    list: 'batches',
    query: () => ({ ...three, limit: 10 }),
    budget: threeFilters,
  },
  {
    name: 'project, 15 % match',
    list: 'batches',
    query: ({ batches }) => ({ project_id: thirdProject(batches) }),
    budget: ofProject,
  },
  { name: 'tag, 5 % match', list: 'batches', query: () => ({ tag: ['calibration'] }), budget: tagged },
  {
    name: 'tag, 5 % match, at 85 %',
    list: 'batches',
    query: () => ({ tag: ['calibration'] }),
    start: 0.85,
    budget: tagged,
  },
  {
    name: 'tag and status',
    list: 'batches',
    query: () => ({ tag: ['nightly'], status: ['ERROR'] }),
    budget: tagAndStatus,
  },
  {
    name: 'start_date, latest 1 %',
    list: 'batches',
    query: ({ batches }) => ({ start_date: quantile(batches, 'start_datetime', 0.99) }),
    budget: started,
  },
  {
    name: 'start_date and end_date, 1 % between',
    list: 'batches',
    query: ({ batches }) => ({
      start_date: quantile(batches, 'start_datetime', 0.495),
      end_date: quantile(batches, 'end_datetime', 0.505),
    }),
    budget: startedAndEnded,
  },
  {
    name: 'status, 2 % match, start_date, latest 50 %',
    list: 'batches',
    query: ({ batches }) => ({ status: ['ERROR'], start_date: quantile(batches, 'start_datetime', 0.5) }),
    budget: fewSince,
  },
  {
    name: 'status, 85 % match, start_date and end_date, 50 % between',
    list: 'batches',
    query: ({ batches }) => ({
      ...done,
      start_date: quantile(batches, 'start_datetime', 0.25),
      end_date: quantile(batches, 'end_datetime', 0.75),
    }),
    budget: mostBetween,
  },
  {
    name: 'created_after, latest 1 %',
    list: 'batches',
    query: ({ batches }) => ({ created_after: quantile(batches, 'created_at', 0.99) }),
    budget: created,
  },
  {
    name: 'created_after and created_before, 1 % between',
    list: 'batches',
    query: ({ batches }) => ({
      created_after: quantile(batches, 'created_at', 0.495),
      created_before: quantile(batches, 'created_at', 0.505),
    }),
    budget: created,
  },
  {
    name: 'status, 2 % match, created_after and created_before, 50 % between',
    list: 'batches',
    query: ({ batches }) => ({
      status: ['ERROR'],
      created_after: quantile(batches, 'created_at', 0.25),
      created_before: quantile(batches, 'created_at', 0.75),
    }),
    budget: fewSince,
  },
  { name: 'has_errors', list: 'batches', query: () => ({ has_errors: true }), budget: fewMatch },
  { name: 'order_by jobs_count', list: 'batches', query: () => ({ order_by: 'jobs_count' }), budget: byFewValues },
  {
    name: 'order_by jobs_count, at 90 %',
    list: 'batches',
    query: () => ({ order_by: 'jobs_count' }),
    start: 0.9,
    budget: byFewValues,
  },
  ...(['updated_at', 'start_datetime', 'end_datetime'] as const).map(
    (order_by): ListCase => ({
      name: `order_by ${order_by}`,
      list: 'batches',
      query: () => ({ order_by }),
      budget: byTime,
    }),
  ),
  {
    name: 'order_by updated_at, at 50 %',
    list: 'batches',
    query: () => ({ order_by: 'updated_at' }),
    start: 0.5,
    budget: byTime,
  },
  {
    name: 'order_by start_datetime, status, 85 % match',
    list: 'batches',
    query: () => ({ ...done, order_by: 'start_datetime' }),
    budget: byTimeOfMost,
  },
  ...(['status', 'device_type', 'project_id', 'queue_priority', 'open'] as const).map(
    (order_by): ListCase => ({
      name: `order_by ${order_by}`,
      list: 'batches',
      query: () => ({ order_by }),
      budget: byFewValues,
    }),
  ),
  { name: 'order_by id', list: 'batches', query: () => ({ order_by: 'id' }), budget: byFirstIds },
  {
    name: 'order_by id, at 900',
    list: 'batches',
    query: () => ({ order_by: 'id', offset: 900 }),
    budget: behindIds,
  },
  {
    name: 'order_by id, status',
    list: 'batches',
    query: () => ({ order_by: 'id', status: ['ERROR'] }),
    budget: byId,
  },
  { name: 'count_by status', list: 'batches', query: () => ({ count_by: 'status' }), budget: counted },
  {
    name: 'count_by status, tag',
    list: 'batches',
    query: () => ({ count_by: 'status', tag: ['calibration'] }),
    budget: countedOfTag,
  },
  { name: 'min_jobs, 5 % match', list: 'batches', query: () => ({ min_jobs: 244 }) },
  {
    name: 'id prefix of 8',
    list: 'batches',
    query: ({ batches }) => ({ id__starts_with: batches[batches.length >> 1]?.id.slice(0, 8) ?? '' }),
    budget: { units: units(2, 2, 2, 2), calls: 2, depth: 1 },
  },
  {
    name: '100 ids',
    list: 'batches',
    query: ({ batches }) => ({
      id: Array.from({ length: 100 }, (_, place) => batches[Math.floor((place * batches.length) / 100)]?.id ?? ''),
    }),
    budget: { units: units(50, 50, 50, 50), depth: 1, calls: 2 },
  },
  { name: 'jobs, unfiltered, at 50 %', list: 'jobs', query: () => ({}), start: 0.5, budget: flat },
  {
    name: 'jobs of one batch by creation_order',
    list: 'jobs',
    query: ({ largeBatchId }) => ({ batch_id: [largeBatchId], order_by: 'creation_order', ...ascending }),
    budget: ofBatch,
  },
  {
    name: 'jobs of one batch by creation_order, at 90 %',
    list: 'jobs',
    query: ({ largeBatchId }) => ({ batch_id: [largeBatchId], order_by: 'creation_order', ...ascending }),
    start: 0.9,
    budget: ofBatch,
  },
  {
    name: 'jobs of one batch by creation_order, descending',
    list: 'jobs',
    query: ({ largeBatchId }) => ({ batch_id: [largeBatchId], order_by: 'creation_order' }),
    budget: ofBatch,
  },
  {
    name: 'jobs of one batch with errors',
    list: 'jobs',
    query: ({ largeBatchId }) => ({ batch_id: [largeBatchId], errors: true }),
  },
  { name: 'jobs, status, 85 % match', list: 'jobs', query: () => done, budget: mostMatch },
  { name: 'jobs, status, 2 % match', list: 'jobs', query: () => ({ status: ['ERROR'] }), budget: fewMatch },
  ...(
    [
      ['updated_at', byTime],
      ['creation_order', byFewValues],
      ['runs', byFewValues],
      ['status', byFewValues],
      ['batch_id', byBatch],
    ] as const
  ).map(
    ([order_by, budget]): ListCase => ({
      name: `jobs, order_by ${order_by}`,
      list: 'jobs',
      query: () => ({ order_by }),
      budget,
    }),
  ),
];

/** A case on given rows: the whole query, and the right answer from the rows as an array. */
export interface PreparedCase extends ListCase {
  readonly asked: ListQuery;
  readonly expected: ListAnswer;
}

/** All cases, or those with these names, in their order. Takes seconds for each million rows. */
export function prepareCases(rows: BenchRows, names?: ReadonlySet<string>): PreparedCase[] {
  const wanted = listCases.filter(({ name }) => names?.has(name) ?? true);
  return wanted.map((listCase) => {
    const { list, query, start = 0 } = listCase;
    const first = { ...defaults, ...query(rows) } as ListQuery;
    const atStart = rightAnswer(rows, list, first);
    if (start === 0) return { ...listCase, asked: first, expected: atStart };
    const asked = { ...first, offset: Math.floor(start * atStart.total) };
    return { ...listCase, asked, expected: rightAnswer(rows, list, asked) };
  });
}

function rightAnswer(rows: BenchRows, list: ListName, { count_by, ...query }: ListQuery): ListAnswer {
  return count_by === undefined
    ? listOf(rows[list] as never, query as never)
    : answerOfCounts(countsOf(rows[list] as never, query as never));
}
