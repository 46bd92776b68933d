import { describe, expect, it } from 'vitest';
import { differenceOf } from '../../../../functions/console/job/job-difference.ts';

const here = { variables: { omega: 2.4, t: [440], phases: [0, 1] } };
const differ = (variables: Record<string, unknown> | null) => differenceOf(here, { variables, creation_order: 4 });

describe('what differs in another job of a batch', () => {
  it('is the variable that has another value, with six digits', () => {
    expect(differ({ omega: 2.6000000000000001, t: [440], phases: [0, 1] })).toBe('omega = 2.6');
    expect(differ({ omega: 2.4, t: [-440], phases: [0, 1] })).toBe('t = −440');
    expect(differ({ omega: 2.4, t: [440], phases: [0, 2] })).toBe('phases = [0, 2]');
  });

  it('are at most two of them', () => {
    expect(differ({ omega: 1, t: 1, phases: 1 })).toBe('omega = 1, t = 1, …');
  });

  it('is its place where the values are the same, or there are none', () => {
    expect(differ(here.variables)).toBe('Job 5');
    expect(differ(null)).toBe('Job 5');
  });

  it('is short, whatever the names and values are', () => {
    expect(differ({ ['n'.repeat(100)]: 'v'.repeat(100), omega: 2.4 }).length).toBeLessThan(40);
  });
});
