import { describe, expect, it } from 'vitest';
import { ticksOf } from '../../../functions/console/ui/ticks.ts';

describe('ticks of an axis', () => {
  it.each([
    [0, 0.53, [0, 0.2, 0.4], 4],
    [0, 50, [0, 10, 20, 30, 40, 50], 6],
    [-12.6, 12.5, [-10, 0, 10], 4],
    [0, 3_200, [0, 1_000, 2_000, 3_000], 5],
    [0, 0.3, [0, 0.1, 0.2, 0.3], 4],
    [7, 7, [7], 4],
  ])('from %d to %d are %j', (low, high, ticks, max) => {
    expect(ticksOf(low, high, max)).toEqual(ticks);
  });

  it('are at most as many as asked for, within the axis', () => {
    for (let exponent = -7; exponent < 7; exponent++) {
      for (const [low, high] of [
        [0, 1.37],
        [-2.9, 4.1],
        [8.3, 9.9],
      ].map((range) => range.map((each) => each * 10 ** exponent))) {
        const ticks = ticksOf(low!, high!, 5);
        expect(ticks.length).toBeGreaterThan(1);
        expect(ticks.length).toBeLessThanOrEqual(5);
        expect(Math.min(...ticks)).toBeGreaterThanOrEqual(low!);
        expect(Math.max(...ticks)).toBeLessThanOrEqual(high!);
      }
    }
  });
});
