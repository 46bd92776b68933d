import { describe, expect, it } from 'vitest';
import { jobsByPeriod } from '../../../functions/console/parts/usage-periods.ts';
import { limitsOf, limitText } from '../../../functions/console/views/limits-form.ts';
import { Limits } from '../../../functions/schemas/limits.ts';

describe('the form of limits', () => {
  it.each([
    {},
    { max_unfinished_jobs: 0, shots_per_month: null, creations_per_minute: 10 },
    { device_types: ['EMU_MPS', 'FRESNEL'], highest_priority: 'LOW', max_job_seconds: 60 },
    { device_types: null, highest_priority: null },
  ] satisfies Limits[])('keeps %j as it is', (limits) => {
    const texts = Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, limitText(limit)]));
    expect(limitsOf(texts)).toEqual(limits);
    expect(Limits.safeParse(limitsOf(texts)).success).toBe(true);
  });

  it('sends a text that is no number as it is', () => {
    expect(limitsOf({ max_unfinished_jobs: ' many ', shots_per_month: ' None ', max_job_seconds: '' })).toEqual({
      max_unfinished_jobs: 'many',
      shots_per_month: null,
    });
  });
});

describe('jobsByPeriod', () => {
  it('has every period from the first to the last', () => {
    const rows = [
      { period: '2026-02-27', jobs: 1 },
      { period: '2026-02-27', jobs: 2 },
      { period: '2026-03-02', jobs: 4 },
    ];
    expect(jobsByPeriod(rows).map(({ period, jobs }) => `${period} ${jobs}`)).toEqual([
      '2026-02-27 3',
      '2026-02-28 0',
      '2026-03-01 0',
      '2026-03-02 4',
    ]);
    expect(
      jobsByPeriod([
        { period: '2026-11', jobs: 1 },
        { period: '2027-01', jobs: 1 },
      ]).map((each) => each.period),
    ).toEqual(['2026-11', '2026-12', '2027-01']);
    expect(jobsByPeriod([])).toEqual([]);
  });
});
