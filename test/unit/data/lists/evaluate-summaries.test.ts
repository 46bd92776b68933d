import { describe, expect, it } from 'vitest';
import { type Dictionaries, facetCode } from '../../../../functions/data/columns/facets.ts';
import { batchList, jobList } from '../../../../functions/data/columns/lists.ts';
import type { Cell } from '../../../../functions/data/columns/summary.ts';
import { evaluateSummaries, planSummaries } from '../../../../functions/data/lists/evaluate-summaries.ts';
import type { Condition, ListQuery, Order } from '../../../../functions/data/lists/query.ts';

const rows = { from: 4_608, to: 9_215 };
const dictionaries = { device_type: ['SV', 'MPS'], project_id: ['p'] };
const ask = (order: Order, ...conditions: Condition[]): ListQuery => {
  return { conditions, order, direction: 'ASC', offset: 0, limit: 1 };
};
const creation: Order = { kind: 'creation' };
const byColumn = (column: string): Order => ({ kind: 'column', column });
const cell = (low: number, high: number, count: number): Cell => ({ low, high, count });
const nulls = (count: number): Cell => ({ low: null, high: null, count });
const range = (column: string, from?: number, to?: number): Condition => ({ kind: 'range', column, from, to });
const done: Condition = { kind: 'facet', facet: 'status', oneOf: ['DONE'] };
const code = (status: string, { started = false, ended = false, device_type = 'SV' } = {}) => {
  const counts = { jobs_count_per_status: { ERROR: 0 } };
  const row = { ...counts, seq: 0, status, open: false, queue_priority: 'LOW', device_type, project_id: 'p' };
  const times = { start_datetime: started ? 't' : null, end_datetime: ended ? 't' : null };
  return facetCode(batchList.columns.facets, { ...row, ...times }, dictionaries);
};
const codes = (...counts: (readonly [code: number, count: number])[]) =>
  counts.toSorted(([a], [b]) => a - b).map(([at, count]) => cell(at, at, count));

function tell(query: ListQuery, summaries: Record<string, readonly Cell[]>, known: Dictionaries = dictionaries) {
  return evaluateSummaries(planSummaries(batchList, query, known), new Map(Object.entries(summaries)), rows);
}

describe('the cells of one column', () => {
  const of = (query: ListQuery, ...start_datetime: Cell[]) => tell(query, { start_datetime });
  const alike = (count: number) => ({ rows, low: 0, high: 0, count });

  it.each<[string, Condition[], number | undefined]>([
    ['begins with the range', [range('start_datetime', 5)], 3],
    ['ends with the range', [range('start_datetime', undefined, 9)], 3],
    ['is just the range', [range('start_datetime', 5, 9)], 3],
    ['begins before the range', [range('start_datetime', 6)], undefined],
    ['goes on after the range', [range('start_datetime', undefined, 8)], undefined],
    ['has its last value first in the range', [range('start_datetime', 9)], undefined],
    ['has its first value last in the range', [range('start_datetime', undefined, 5)], undefined],
    ['is before the range', [range('start_datetime', 10)], 0],
    ['is after the range', [range('start_datetime', undefined, 4)], 0],
    ['is in one range and before another', [range('start_datetime', 5), range('start_datetime', 10)], 0],
    ['is in one range and straddles another', [range('start_datetime', 5), range('start_datetime', 6)], undefined],
    ['is in one range and after another', [range('start_datetime', 5), range('start_datetime', undefined, 4)], 0],
    ['goes on after one of two', [range('start_datetime', 5), range('start_datetime', undefined, 8)], undefined],
    ['is in both ranges', [range('start_datetime', 5), range('start_datetime', 1, 9)], 3],
    ['is cut by a range that nothing lies in', [range('start_datetime', 8, 6)], 0],
  ])('count its rows, but not those without a value, where it %s', (_, conditions, count) => {
    const summarized = of(ask(creation, ...conditions), cell(5, 9, 3), nulls(4));
    expect(summarized).toEqual(count === undefined ? undefined : count === 0 ? [] : [alike(count)]);
  });

  it('show where its rows lie in the order of the column, and how many have no value', () => {
    const query = ask(byColumn('start_datetime'));
    expect(of(query, cell(5, 9, 3), nulls(4))).toEqual([
      { ...cell(5, 9, 3), rows },
      { ...nulls(4), rows },
    ]);
    const later = ask(byColumn('start_datetime'), range('start_datetime', 1));
    expect(of(later, cell(5, 9, 3), nulls(4))).toEqual([{ ...cell(5, 9, 3), rows }]);
  });

  it('show nothing if there are none', () => {
    expect(tell(ask(byColumn('updated_at')), {})).toBeUndefined();
  });
});

describe('the cells of facets', () => {
  it('count the rows that match', () => {
    const facets = codes([code('DONE'), 3], [code('DONE', { started: true }), 4], [code('ERROR'), 5]);
    expect(tell(ask(creation, done), { facets })).toEqual([{ rows, low: 0, high: 0, count: 7 }]);
    expect(tell(ask(creation, { ...done, oneOf: ['PAUSED'] }), { facets })).toEqual([]);
    expect(tell(ask(creation, { ...done, oneOf: ['DONE', 'ERROR'] }), { facets })).toMatchObject([{ count: 12 }]);
  });

  it('show the places of their values in their order, texts that the head does not know yet last', () => {
    const facets = codes([code('DONE', { device_type: 'SV' }), 3], [code('DONE', { device_type: 'MPS' }), 4]);
    const query = ask({ kind: 'facet', facet: 'device_type' }, done);
    expect(tell(query, { facets })?.toSorted((a, b) => Number(a.low) - Number(b.low))).toEqual([
      { ...cell(0, 0, 4), rows },
      { ...cell(1, 1, 3), rows },
    ]);
    expect(tell(query, { facets }, { ...dictionaries, device_type: ['SV'] })).toEqual([
      { ...cell(0, 0, 3), rows },
      { ...nulls(4), rows },
    ]);
  });

  it('say nothing where one cell is for several codes, or there are none', () => {
    expect(tell(ask(creation, done), { facets: [cell(code('DONE'), code('ERROR'), 5)] })).toBeUndefined();
    expect(tell(ask(creation, done), {})).toBeUndefined();
  });
});

describe('the cells of facets and of other columns', () => {
  const facets = codes(
    [code('DONE'), 1],
    [code('DONE', { started: true }), 2],
    [code('DONE', { ended: true }), 4],
    [code('DONE', { started: true, ended: true }), 8],
    [code('ERROR', { started: true, ended: true }), 16],
  );
  const times = { start_datetime: [cell(5, 9, 26), nulls(5)], end_datetime: [cell(6, 12, 28), nulls(3)] };
  const [inStart, inEnd] = [range('start_datetime', 5, 9), range('end_datetime', undefined, 12)];
  const counts = (query: ListQuery, summaries: Record<string, readonly Cell[]>) =>
    tell(query, summaries)?.map(({ count }) => count);

  it('count the rows that have a value wherever a range holds all of them', () => {
    expect(counts(ask(creation, done, inStart), { facets, ...times })).toEqual([10]);
    expect(counts(ask(creation, done, inEnd), { facets, ...times })).toEqual([12]);
    expect(counts(ask(creation, done, inStart, inEnd), { facets, ...times })).toEqual([8]);
    expect(counts(ask(creation, inStart, inEnd), { facets, ...times })).toEqual([24]);
  });

  it('count none where one range holds no value, whatever the others hold', () => {
    const none = range('end_datetime', undefined, 5);
    expect(counts(ask(creation, inStart, none), { facets, ...times })).toEqual([]);
    expect(counts(ask(creation, none, inStart), { ...times })).toEqual([]);
    expect(counts(ask(creation, done, inStart), { facets, start_datetime: [nulls(31)] })).toEqual([]);
  });

  it('show nothing if a range holds some of the values, or a summary is missing', () => {
    const some = range('end_datetime', undefined, 11);
    expect(counts(ask(creation, done, some), { facets, ...times })).toBeUndefined();
    expect(counts(ask(creation, done, inStart, some), { facets, ...times })).toBeUndefined();
    expect(counts(ask(creation, done, inStart), { facets })).toBeUndefined();
    expect(counts(ask(creation, done, inStart), times)).toBeUndefined();
    expect(counts(ask(byColumn('updated_at'), done), { facets })).toBeUndefined();
    const points = [cell(1, 1, 7), cell(3, 3, 24)];
    expect(counts(ask(creation, done, range('jobs_count', 2)), { facets, jobs_count: points })).toBeUndefined();
    expect(counts(ask(creation, done, range('jobs_count', 1, 3)), { facets, jobs_count: points })).toEqual([15]);
  });

  it('show where the rows may lie in the order of a column, rows without a value apart', () => {
    expect(tell(ask(byColumn('start_datetime'), done), { facets, ...times })).toEqual([
      { ...cell(5, 9, 10), rows },
      { ...nulls(5), rows },
    ]);
    expect(tell(ask(byColumn('start_datetime'), done, inStart), { facets, ...times })).toEqual([
      { ...cell(5, 9, 10), rows },
    ]);
    const points = [cell(1, 1, 7), cell(3, 3, 20), cell(8, 8, 4)];
    expect(tell(ask(byColumn('jobs_count'), done), { facets, jobs_count: points })).toEqual([
      { ...cell(1, 8, 15), rows },
    ]);
  });

  it('show nothing if summaries of two moments contradict each other', () => {
    const query = ask(byColumn('start_datetime'), done);
    expect(tell(query, { facets, start_datetime: [nulls(31)] })).toBeUndefined();
  });

  it('show nothing of a column with nulls whose presence is no facet', () => {
    const query = ask(byColumn('runs'), { kind: 'facet', facet: 'status', oneOf: ['DONE'] });
    const plan = planSummaries(jobList, query, { project_id: ['p'] });
    const ofJobs = (runs: Cell[]) =>
      evaluateSummaries(plan, new Map(Object.entries({ facets: [cell(2, 2, 5)], runs })), rows);
    expect(ofJobs([cell(1, 1, 4), nulls(1)])).toBeUndefined();
    expect(ofJobs([cell(1, 1, 5)])).toEqual([{ ...cell(1, 1, 5), rows }]);
  });
});
