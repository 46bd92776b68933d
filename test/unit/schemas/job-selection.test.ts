import { describe, expect, it } from 'vitest';
import { CancelJobsQuery, RebatchQuery } from '../../../functions/schemas/job-selection.ts';
import { uuid } from '../../support/new-batch.ts';

describe('RebatchQuery', () => {
  it('reads every filter as lists do', () => {
    const query = {
      id: [uuid('a', 1).toUpperCase(), uuid('a', 2)],
      min_runs: ['1'],
      max_runs: ['+20'],
      start_date: ['2026-11-20'],
      end_date: ['2026-11-21T10:00:00 01:00'],
      status: ['DONE', 'ERROR'],
      limit: ['7'],
    };
    expect(RebatchQuery.parse(query)).toEqual({
      id: [uuid('a', 1), uuid('a', 2)],
      min_runs: 1,
      max_runs: 20,
      start_date: '2026-11-20T00:00:00.000000Z',
      end_date: '2026-11-21T09:00:00.000000Z',
      status: ['DONE', 'ERROR'],
    });
    expect(RebatchQuery.parse({})).toEqual({});
  });

  it('refuses what is no status', () => {
    const parsed = RebatchQuery.safeParse({ status: ['DONE', 'PAUSED'], id: ['j1'], min_runs: ['few'] });
    expect(parsed.error?.issues.map(({ path }) => path.join('.')).sort()).toEqual(['id.0', 'min_runs', 'status.1']);
  });
});

describe('CancelJobsQuery', () => {
  it('does not filter by status: only unfinished jobs can be canceled', () => {
    expect(CancelJobsQuery.parse({ status: ['LOST'], max_runs: ['5'] })).toEqual({ max_runs: 5 });
  });
});
