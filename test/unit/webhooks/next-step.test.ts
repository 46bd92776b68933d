import { describe, expect, it } from 'vitest';
import { nextStep } from '../../../functions/webhooks/next-step.ts';

const now = Date.parse('2026-11-21T12:00:00Z');

describe('nextStep', () => {
  it.each([200, 201, 202, 204, 299])('is done after %i', (status) => {
    expect(nextStep(1, { status }, now)).toEqual({ step: 'delivered' });
    expect(nextStep(7, { status }, now)).toEqual({ step: 'delivered' });
  });

  it('stops after 410', () => {
    expect(nextStep(1, { status: 410, retryAfter: '5' }, now)).toMatchObject({ step: 'stop' });
  });

  it.each([301, 302, 303, 304, 307, 308])('takes %i for a failure, since no redirect is followed', (status) => {
    expect(nextStep(1, { status }, now)).toMatchObject({
      step: 'try again',
      reason: `The receiver answered ${status}: redirects are not followed.`,
    });
  });

  it('tries again after 5 s, 5 and 30 minutes, 2, 5 and 10 hours, then gives up', () => {
    const steps = [1, 2, 3, 4, 5, 6, 7].map((attempts) => nextStep(attempts, { status: 500 }, now));
    expect(steps.map((each) => ('delaySeconds' in each ? each.delaySeconds : each))).toEqual([
      5,
      5 * 60,
      30 * 60,
      2 * 3600,
      5 * 3600,
      10 * 3600,
      { step: 'give up', reason: 'The receiver answered 500.' },
    ]);
  });

  it('names why no answer came', () => {
    const step = nextStep(1, new Error('No answer within 15 s.'), now);
    expect(step).toEqual({ step: 'try again', reason: 'No answer within 15 s.', delaySeconds: 5 });
  });

  it.each([
    ['120', 120],
    ['3', 5],
    ['0', 5],
    ['Sat, 21 Nov 2026 12:10:00 GMT', 600],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 5],
    ['99999999999999999999', 86_400],
    ['Fri, 21 Nov 2126 12:10:00 GMT', 86_400],
    ['soon', 5],
    ['-5', 5],
    ['', 5],
  ])('waits for a Retry-After of "%s": %i s', (retryAfter, delaySeconds) => {
    expect(nextStep(1, { status: 503, retryAfter }, now)).toMatchObject({ delaySeconds });
    expect(nextStep(6, { status: 503, retryAfter }, now)).toMatchObject({
      delaySeconds: Math.max(delaySeconds, 36_000),
    });
  });
});
