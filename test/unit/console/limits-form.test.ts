import { describe, expect, it } from 'vitest';
import { limitPhrase, limitsOf, limitText, projectOf, userOf } from '../../../functions/console/views/limits-form.ts';
import { limitNames } from '../../../functions/limits.ts';
import { Limits } from '../../../functions/schemas/limits.ts';

describe('the form of limits', () => {
  it.each([
    {},
    { max_unfinished_jobs: 0, shots_per_month: null, creations_per_minute: 10 },
    { device_types: ['EMU_MPS', 'FRESNEL'], highest_priority: 'LOW', max_job_seconds: 60 },
    { device_types: null, highest_priority: null },
    { device_types: [] },
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

it('says each limit in words', () => {
  const limits: Limits = {
    ...{ max_unfinished_batches: 100, max_unfinished_jobs: 5_000, shots_per_month: 1_000_000 },
    ...{ device_seconds_per_month: 7_200, creations_per_minute: 1, max_job_seconds: 90 },
    ...{ device_types: ['A', 'B'], highest_priority: 'LOW' },
  };
  expect(limitNames.map((name) => limitPhrase(name, limits[name]))).toEqual([
    'at most 100 unfinished batches',
    'at most 5,000 unfinished jobs',
    'at most 1,000,000 shots a month',
    'at most 2 h of device time a month',
    'at most 1 creations a minute',
    'at most 1 min 30 s for a job',
    'only these devices: A, B',
    'at most the priority LOW',
  ]);
  expect(limitPhrase('shots_per_month', null)).toBe('Shots this month: none');
  expect(limitPhrase('device_types', [])).toBe('no device at all');
});

it('knows whose limits they are', () => {
  expect(['user:a:b', 'project:c', 'default'].map(userOf)).toEqual(['a:b', undefined, undefined]);
  expect(['user:a:b', 'project:c', 'default'].map(projectOf)).toEqual([undefined, 'c', undefined]);
});
