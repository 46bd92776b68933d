import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { costTable } from '../../infra/docs/usage-costs.ts';
import { alarmingCallsPerSecond } from '../../infra/stack/alarms.ts';
import { stages } from '../../infra/stack/stages.ts';

describe('the alarm Calls', () => {
  it('goes off by a loop at a single route of stage prod', () => {
    expect(alarmingCallsPerSecond).toBeLessThan(stages.prod.throttle.seldom);
  });
});

describe('the measured units', () => {
  it.each([
    ['a million batches of 4 jobs, by users and machines', 140],
    ['the same, of users who have 16 newer jobs by then', 140],
    ['a million batches of 4 jobs, by events', 115],
  ])('make %s cost at most %d $', (name, dollars) => {
    const figures = JSON.parse(readFileSync('docs/reference/performance.json', 'utf8'));
    const row = costTable(figures).split(`| ${name} |`)[1];
    expect(Number.parseFloat(row ?? '')).toBeLessThanOrEqual(dollars);
  });
});
