import { describe, expect, it } from 'vitest';
import { axisOf, placeOn } from '../../../functions/console/ui/axis.ts';

const labels = (...values: number[]) => axisOf(values).ticks.map(({ label }) => label);

describe('axisOf', () => {
  it('begins and ends at round numbers', () => {
    expect(labels(0.25, 12.5)).toEqual(['0', '2.5', '5', '7.5', '10', '12.5']);
    expect(labels(0.1, 0.5)).toEqual(['0.1', '0.2', '0.3', '0.4', '0.5']);
    expect(labels(-3, 3)).toEqual(['−4', '−2', '0', '2', '4']);
  });

  it('tells numbers apart that differ in the last digits', () => {
    const near = labels(1e9, 1e9 + 1);
    expect(new Set(near).size).toBe(near.length);
    expect(near[0]).toBe('1e9');
  });

  it('has as many whole steps as a number of jobs', () => {
    expect(axisOf([1, 3], 5, 1).ticks.map(({ label }) => label)).toEqual(['1', '2', '3']);
  });

  it.each([
    [[]],
    [[0]],
    [[7]],
    [[-7, -7]],
    [[1e300, 1.2e301]],
    [[-1.7e308, 1.7e308]],
    [[0, 5e-324]],
    [[1, 1 + 2e-16]],
    [[1e-9, 1e9]],
  ])('has some ticks around %j, and places from 0 to 1', (values) => {
    const axis = axisOf(values);
    expect(axis.ticks.length).toBeGreaterThan(1);
    expect(axis.ticks.length).toBeLessThan(20);
    for (const each of values) {
      const place = placeOn(axis, each);
      expect(place).toBeGreaterThanOrEqual(-1e-9);
      expect(place).toBeLessThanOrEqual(1 + 1e-9);
    }
  });
});
