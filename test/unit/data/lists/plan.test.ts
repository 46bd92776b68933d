import { describe, expect, it } from 'vitest';
import { batchList, jobList } from '../../../../functions/data/columns/lists.ts';
import {
  isInKeyOrder,
  type Plan,
  planColumns,
  planEarlyIds,
  planIdBlockReads,
  planQuery,
  planRowReads,
} from '../../../../functions/data/lists/plan.ts';
import type { ListQuery } from '../../../../functions/data/lists/query.ts';

const everything: ListQuery = { conditions: [], order: { kind: 'creation' }, direction: 'DESC', offset: 0, limit: 100 };
const since = { kind: 'created', from: 'a' } as const;
const done = { kind: 'facet', facet: 'status', oneOf: ['DONE'] } as const;
const manyJobs = { kind: 'range', column: 'jobs_count', from: 5 } as const;
const nightly = { kind: 'set', sets: 'tag', oneOf: ['nightly'] } as const;
const batch = { kind: 'set', sets: 'batch', oneOf: ['b1'] } as const;
const smallSet = { kind: 'smallSet', sets: jobList.sets.batch, numberedBy: 'creation_order', value: 'b1' } as const;
const column = (name: string) => ({ kind: 'column', column: name }) as const;

describe('planQuery', () => {
  const batchPlans: [string, Partial<ListQuery>, Plan][] = [
    ['no filter, creation order', {}, { kind: 'sequence' }],
    ['times of creation, creation order', { conditions: [since, { ...since, to: 'b' }] }, { kind: 'sequence' }],
    [
      'times of creation and a facet',
      { conditions: [since, done] },
      { kind: 'columns', names: ['facets'], summaries: ['facets'] },
    ],
    [
      'times of creation, another order',
      { conditions: [since], order: column('id') },
      { kind: 'columns', names: ['id'], summaries: [] },
    ],
    [
      'no filter, another order',
      { order: column('jobs_count') },
      { kind: 'columns', names: ['jobs_count'], summaries: ['jobs_count'] },
    ],
    [
      'order of a facet',
      { order: { kind: 'facet', facet: 'status' } },
      { kind: 'columns', names: ['facets'], summaries: ['facets'] },
    ],
    ['one facet', { conditions: [done] }, { kind: 'columns', names: ['facets'], summaries: ['facets'] }],
    [
      'facets and a range',
      { conditions: [manyJobs, done, done] },
      { kind: 'columns', names: ['facets', 'jobs_count'], summaries: ['facets', 'jobs_count'] },
    ],
    [
      'a filter and another order',
      { conditions: [done], order: column('id') },
      { kind: 'columns', names: ['id', 'facets'], summaries: [] },
    ],
    [
      'two times',
      {
        conditions: [
          { kind: 'range', column: 'end_datetime', to: 9 },
          { kind: 'range', column: 'start_datetime', from: 5 },
        ],
      },
      {
        kind: 'columns',
        names: ['start_datetime', 'end_datetime'],
        summaries: ['start_datetime', 'end_datetime', 'facets'],
      },
    ],
    [
      'two times, one of them the order',
      {
        conditions: [
          { kind: 'range', column: 'end_datetime', to: 9 },
          { kind: 'range', column: 'start_datetime', from: 5 },
        ],
        order: column('end_datetime'),
      },
      {
        kind: 'columns',
        names: ['start_datetime', 'end_datetime'],
        summaries: ['start_datetime', 'end_datetime', 'facets'],
      },
    ],
    ['a tag', { conditions: [nightly] }, { kind: 'columns', names: [], summaries: [] }],
    [
      'ids beside anything',
      { conditions: [done, { kind: 'ids', oneOf: ['a', 'b'] }] },
      { kind: 'ids', ids: ['a', 'b'] },
    ],
    ['a selective prefix', { conditions: [{ kind: 'idPrefix', prefix: '12' }] }, { kind: 'idPrefix', prefix: '12' }],
    [
      'a selective prefix beside anything',
      { conditions: [done, { kind: 'idPrefix', prefix: '12ab-' }], order: column('id') },
      { kind: 'idPrefix', prefix: '12ab-' },
    ],
    [
      'a time and a number',
      { conditions: [manyJobs, { kind: 'range', column: 'updated_at', from: 5 }] },
      { kind: 'columns', names: ['jobs_count', 'updated_at'], summaries: ['jobs_count', 'updated_at', 'facets'] },
    ],
    [
      'three times',
      {
        conditions: ['end_datetime', 'start_datetime', 'updated_at'].map((name) => ({
          kind: 'range',
          column: name,
          from: 5,
        })),
      },
      {
        kind: 'columns',
        names: ['updated_at', 'start_datetime', 'end_datetime'],
        summaries: ['updated_at', 'start_datetime', 'end_datetime', 'facets'],
      },
    ],
    [
      'a wide prefix',
      { conditions: [{ kind: 'idPrefix', prefix: '1' }] },
      { kind: 'columns', names: ['id'], summaries: [] },
    ],
    [
      'a prefix whose hyphen selects nothing',
      { conditions: [{ kind: 'idPrefix', prefix: '1-' }] },
      { kind: 'columns', names: ['id'], summaries: [] },
    ],
    ['all by id, up to the 1,000th', { order: column('id'), offset: 900, limit: 100 }, { kind: 'idOrder' }],
    [
      'all by id, beyond the 1,000th',
      { order: column('id'), offset: 901, limit: 100 },
      { kind: 'columns', names: ['id'], summaries: [] },
    ],
    [
      'some by id',
      { conditions: [done], order: column('id') },
      { kind: 'columns', names: ['id', 'facets'], summaries: [] },
    ],
  ];
  it.each(batchPlans)('for batches: %s', (_, query, expected) => {
    expect(planQuery(batchList, { ...everything, ...query })).toEqual(expected);
  });

  const jobPlans: [string, Partial<ListQuery>, Plan][] = [
    ['one batch, creation order', { conditions: [batch] }, smallSet],
    ['one batch by place in it', { conditions: [batch], order: column('creation_order') }, smallSet],
    [
      'one batch, another order',
      { conditions: [batch], order: column('runs') },
      { kind: 'columns', names: ['runs'], summaries: [] },
    ],
    ['one batch, one status', { conditions: [batch, done] }, { kind: 'columns', names: ['facets'], summaries: [] }],
    [
      'one batch by a facet',
      { conditions: [batch], order: { kind: 'facet', facet: 'status' } },
      { kind: 'columns', names: ['facets'], summaries: [] },
    ],
    [
      'two numbers',
      {
        conditions: [
          { kind: 'range', column: 'runs', from: 5 },
          { kind: 'range', column: 'creation_order', to: 9 },
        ],
      },
      { kind: 'columns', names: ['creation_order', 'runs'], summaries: ['creation_order', 'runs', 'facets'] },
    ],
    ['no batch', { conditions: [{ ...batch, oneOf: [] }] }, { kind: 'columns', names: [], summaries: [] }],
    ['two batches', { conditions: [{ ...batch, oneOf: ['b1', 'b2'] }] }, { kind: 'columns', names: [], summaries: [] }],
  ];
  it.each(jobPlans)('for jobs: %s', (_, query, expected) => {
    expect(planQuery(jobList, { ...everything, ...query })).toEqual(expected);
  });
});

describe('isInKeyOrder', () => {
  it('holds where all rows between two of a page are on it too', () => {
    const prefix = { kind: 'idPrefix', prefix: '1' } as const;
    const isSo = (query: Partial<ListQuery>) => isInKeyOrder({ ...everything, ...query });
    expect(isSo({ order: column('id') })).toBe(true);
    expect(isSo({ order: column('id'), conditions: [prefix] })).toBe(true);
    expect(isSo({ order: column('id'), conditions: [prefix, done] })).toBe(false);
    expect(isSo({ order: column('jobs_count') })).toBe(false);
    expect(isSo({ conditions: [prefix] })).toBe(false);
  });
});

describe('planColumns', () => {
  it('reads the column of ids for a filter on ids or their prefix', () => {
    const ids = { kind: 'ids', oneOf: ['a'] } as const;
    const prefix = { kind: 'idPrefix', prefix: '12ab' } as const;
    const idsAlone = { kind: 'columns', names: ['id'], summaries: [] };
    expect(planColumns(batchList, { ...everything, conditions: [ids] })).toEqual(idsAlone);
    expect(planColumns(batchList, { ...everything, conditions: [prefix] })).toEqual(idsAlone);
    expect(planColumns(jobList, { ...everything, conditions: [done, ids], order: column('runs') })).toEqual({
      kind: 'columns',
      names: ['id', 'facets', 'runs'],
      summaries: [],
    });
  });
});

describe('planRowReads', () => {
  const every = (step: number, count: number) => Array.from({ length: count }, (_, index) => 1_000 + index * step);

  it('reads neighbours as one range, in any order', () => {
    expect(planRowReads([7, 5, 6], 56)).toEqual({ kind: 'ranges', ranges: [{ from: 5, to: 7 }] });
  });

  it('reads the rows in gaps too while that is cheaper than single rows', () => {
    expect(planRowReads(every(5, 100), 56)).toEqual({ kind: 'ranges', ranges: [{ from: 1_000, to: 1_495 }] });
  });

  it('reads single rows by id where they lie apart', () => {
    expect(planRowReads(every(50, 100), 56)).toEqual({ kind: 'ids' });
  });

  it('reads a few clusters as a range each', () => {
    expect(planRowReads([10, 11, 12, 90_000, 90_001], 56)).toEqual({
      kind: 'ranges',
      ranges: [
        { from: 10, to: 12 },
        { from: 90_000, to: 90_001 },
      ],
    });
  });

  /** `count` times `length` rows side by side, `gap` apart. */
  const clusters = (count: number, length: number, gap: number) =>
    Array.from({ length: count }, (_, cluster) =>
      Array.from({ length }, (_, index) => 1_000 + cluster * (length - 1 + gap) + index),
    ).flat();
  const rangesOf = (sequence: readonly number[]) => {
    const reads = planRowReads(sequence, 56);
    return reads.kind === 'ranges' ? reads.ranges.map(({ from, to }) => `${from}-${to}`) : reads.kind;
  };

  it('bridges gaps of up to 8', () => {
    expect(rangesOf(clusters(2, 10, 8))).toEqual(['1000-1026']);
    expect(rangesOf(clusters(2, 10, 9))).toEqual(['1000-1009', '1018-1027']);
  });

  it('reads one range when several ranges cost no less', () => {
    expect(rangesOf([1_000])).toEqual(['1000-1000']);
    expect(rangesOf([1_000, 1_009])).toEqual(['1000-1009']);
    expect(rangesOf([1_000, 1_010])).toEqual(['1000-1000', '1010-1010']);
  });

  it('starts at most 8 ranges', () => {
    expect(rangesOf(clusters(8, 10, 9))).toHaveLength(8);
    expect(rangesOf(clusters(9, 10, 9))).toEqual(['1000-1153']);
  });

  it('starts more for more than 100 rows, and at most 48', () => {
    expect(rangesOf(clusters(9, 11, 90))).toBe('ids');
    expect(rangesOf(clusters(9, 12, 90))).toHaveLength(9);
    expect(rangesOf(clusters(48, 20, 90))).toHaveLength(48);
    expect(rangesOf(clusters(49, 20, 90))).toBe('ids');
  });

  it('reads by id when that is cheaper, including the look-up of the ids', () => {
    // 16 rows in 9 clusters and 4 blocks of ids: 8.5 units by id, as for a range of 85 rows.
    const apart = (last: number) => [0, 1, 10, 11, 20, 21, 30, 31, 40, 41, 50, 51, 60, 61, 70, last];
    expect(planRowReads(apart(84), 22)).toEqual({ kind: 'ranges', ranges: [{ from: 0, to: 84 }] });
    expect(planRowReads(apart(85), 22)).toEqual({ kind: 'ids' });
    expect(planRowReads(apart(85), 16)).toEqual({ kind: 'ranges', ranges: [{ from: 0, to: 85 }] });
    expect(planRowReads(every(20, 9), 56)).toEqual({ kind: 'ids' });
  });

  it('reads nothing where there are no rows', () => {
    expect(planRowReads([], 56)).toEqual({ kind: 'ranges', ranges: [] });
  });
});

describe('planIdBlockReads', () => {
  it('reads neighbouring blocks as one range', () => {
    expect(planIdBlockReads([5, 7, 15, 29], 10)).toEqual({
      numbers: [0, 1, 2],
      from: 0,
      to: 2,
      asRange: true,
      cost: 0.375,
    });
    expect(planIdBlockReads([40], 10)).toEqual({ numbers: [4], from: 4, to: 4, asRange: true, cost: 0.125 });
  });

  it('reads blocks that lie apart each by its key', () => {
    expect(planIdBlockReads([10, 99], 10)).toEqual({ numbers: [1, 9], from: 1, to: 9, asRange: false, cost: 1 });
    expect(planIdBlockReads([10, 89], 10)).toEqual({ numbers: [1, 8], from: 1, to: 8, asRange: true, cost: 1 });
  });
});

describe('planEarlyIds', () => {
  const segments = [0, 1, 2, 3].map((at) => ({
    rows: { from: at * 4_608, to: (at + 1) * 4_608 - 1 },
    low: 0,
    high: 0,
    count: 92,
  }));
  const summarized = { wanted: segments.slice(1, 3), summarized: segments, total: 368, rowsInBlocks: 4 * 4_608 };
  const rows = { ...summarized, matching: new Int32Array(0) };
  const deep = { ...everything, offset: 92 };

  it('names the rows around a page in creation order, from either end', () => {
    // The ranks from 176 to 275: 84 ninety-seconds into one segment, up to the end of the next.
    expect(planEarlyIds(batchList, deep, rows)).toEqual({ from: 8_815 - 576, to: 13_773 + 576 });
    const ascending = { ...deep, direction: 'ASC', offset: 176 } as const;
    expect(planEarlyIds(batchList, ascending, rows)).toEqual({ from: 8_815 - 576, to: 13_773 + 576 });
  });

  it('counts the newest rows, which were read, among the matching ones', () => {
    const matching = Int32Array.from({ length: 92 }, (_, at) => 13_824 + at);
    const partlyRead = { ...rows, wanted: segments.slice(2, 3), summarized: segments.slice(0, 3), matching };
    // The ranks from 208 to 307: 24 ninety-seconds into the last segment, up to row 31 behind it.
    const page = { ...everything, offset: 60 };
    expect(planEarlyIds(batchList, page, partlyRead)).toEqual({ from: 10_418 - 576, to: 13_855 + 576 });
  });

  it('names nothing where the rows of the page lie close together, or are few', () => {
    const dense = segments.map((segment) => ({ ...segment, count: 4_000 }));
    const ofDense = { ...rows, wanted: dense.slice(1, 3), summarized: dense, total: 16_000 };
    expect(planEarlyIds(batchList, deep, ofDense)).toBeUndefined();
    expect(planEarlyIds(batchList, { ...deep, limit: 8 }, rows)).toBeUndefined();
  });

  it('names nothing in another order where the ids would cost more than their look-up', () => {
    const byValue = { ...deep, order: { kind: 'facet', facet: 'status' } } as const;
    expect(planEarlyIds(batchList, byValue, rows)).toEqual({ from: 4_608, to: 4 * 4_608 - 1 });
    expect(planEarlyIds(batchList, { ...byValue, limit: 20 }, rows)).toBeUndefined();
  });
});
