import { describe, expect, it } from 'vitest';
import { batchList } from '../../../../functions/data/lists/batch-list.ts';
import { jobList } from '../../../../functions/data/lists/job-list.ts';
import type { ListQuery } from '../../../../functions/data/lists/list-query.ts';
import { type Plan, plan, planRowReads } from '../../../../functions/data/lists/plan.ts';

const everything: ListQuery = { conditions: [], order: { kind: 'creation' }, direction: 'DESC', offset: 0, limit: 100 };
const done = { kind: 'facet', facet: 'status', oneOf: ['DONE'] } as const;
const manyJobs = { kind: 'range', column: 'jobs_count', from: 5 } as const;
const nightly = { kind: 'set', sets: 'tag', oneOf: ['nightly'] } as const;
const batch = { kind: 'set', sets: 'batch', oneOf: ['b1'] } as const;
const column = (name: string) => ({ kind: 'column', column: name }) as const;

describe('plan', () => {
  const batchPlans: [string, Partial<ListQuery>, Plan][] = [
    ['no filter, creation order', {}, { kind: 'sequence' }],
    [
      'no filter, another order',
      { order: column('jobs_count') },
      { kind: 'columns', columns: ['jobs_count'], later: [] },
    ],
    [
      'order of a facet',
      { order: { kind: 'facet', facet: 'status' } },
      { kind: 'columns', columns: ['facets'], later: [] },
    ],
    ['one facet', { conditions: [done] }, { kind: 'columns', columns: ['facets'], later: [] }],
    [
      'facets and a range',
      { conditions: [manyJobs, done, done] },
      { kind: 'columns', columns: ['facets', 'jobs_count'], later: [] },
    ],
    [
      'a filter and another order',
      { conditions: [done], order: column('id') },
      { kind: 'columns', columns: ['id', 'facets'], later: [] },
    ],
    [
      'two times',
      {
        conditions: [
          { kind: 'range', column: 'end_datetime', to: 9 },
          { kind: 'range', column: 'start_datetime', from: 5 },
        ],
      },
      { kind: 'columns', columns: ['start_datetime'], later: ['end_datetime'] },
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
      { kind: 'columns', columns: ['start_datetime', 'end_datetime'], later: [] },
    ],
    ['a tag', { conditions: [nightly] }, { kind: 'columns', columns: [], later: [] }],
    [
      'ids beside anything',
      { conditions: [done, { kind: 'ids', oneOf: ['a', 'b'] }] },
      { kind: 'ids', ids: ['a', 'b'] },
    ],
    [
      'a selective prefix',
      { conditions: [{ kind: 'idPrefix', prefix: '12ab' }] },
      { kind: 'idPrefix', prefix: '12ab' },
    ],
    [
      'a wide prefix',
      { conditions: [{ kind: 'idPrefix', prefix: '12a' }] },
      { kind: 'columns', columns: ['id'], later: [] },
    ],
    [
      'a prefix whose hyphen selects nothing',
      { conditions: [{ kind: 'idPrefix', prefix: '12a-' }] },
      { kind: 'columns', columns: ['id'], later: [] },
    ],
  ];
  it.each(batchPlans)('for batches: %s', (_, query, expected) => {
    expect(plan(batchList, { ...everything, ...query })).toEqual(expected);
  });

  const jobPlans: [string, Partial<ListQuery>, Plan][] = [
    ['one batch, creation order', { conditions: [batch] }, { kind: 'members', sets: 'batch', value: 'b1' }],
    [
      'one batch by place in it',
      { conditions: [batch], order: column('creation_order') },
      { kind: 'members', sets: 'batch', value: 'b1' },
    ],
    [
      'one batch, another order',
      { conditions: [batch], order: column('runs') },
      { kind: 'columns', columns: ['runs'], later: [] },
    ],
    ['one batch, one status', { conditions: [batch, done] }, { kind: 'columns', columns: ['facets'], later: [] }],
    ['two batches', { conditions: [{ ...batch, oneOf: ['b1', 'b2'] }] }, { kind: 'columns', columns: [], later: [] }],
  ];
  it.each(jobPlans)('for jobs: %s', (_, query, expected) => {
    expect(plan(jobList, { ...everything, ...query })).toEqual(expected);
  });
});

describe('planRowReads', () => {
  const every = (step: number, count: number) => Array.from({ length: count }, (_, index) => 1_000 + index * step);

  it('reads neighbours as one range, whatever their order', () => {
    expect(planRowReads([7, 5, 6], 56)).toEqual({ kind: 'ranges', ranges: [{ from: 5, to: 7 }] });
  });

  it('reads through gaps while that is cheaper than single rows', () => {
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
});
