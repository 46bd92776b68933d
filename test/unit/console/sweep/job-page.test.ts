import { describe, expect, it } from 'vitest';
import { pageOfJobs } from '../../../../functions/console/sweep/job-page.ts';
import type { Job } from '../../../../functions/schemas/job.ts';

const jobs = [3, undefined, 1, 3, 2].map((value, creation_order) => ({
  ...{ creation_order, value, status: creation_order === 2 ? 'ERROR' : 'DONE' },
})) as unknown as (Job & { value: number | undefined })[];
const values = new Map([['value', (job: Job) => (job as (typeof jobs)[number]).value]]);

function places(asked: Partial<Parameters<typeof pageOfJobs>[2]>) {
  const page = pageOfJobs(jobs, values, {
    ...{ status: [], by: 'value', direction: 'ASC', offset: 0, limit: 100 },
    ...asked,
  });
  return [page.jobs.map(({ creation_order }) => creation_order), page.total];
}

describe('pageOfJobs', () => {
  it('sorts by a value, jobs without it last in both directions', () => {
    expect(places({})).toEqual([[2, 4, 0, 3, 1], 5]);
    expect(places({ direction: 'DESC' })).toEqual([[0, 3, 4, 2, 1], 5]);
  });

  it('filters by status, and cuts a page', () => {
    expect(places({ status: ['DONE'], limit: 2, offset: 1 })).toEqual([[0, 3], 4]);
  });

  it('keeps the order of jobs where it does not know the value', () => {
    expect(places({ by: 'unknown' })).toEqual([[0, 1, 2, 3, 4], 5]);
  });
});
