import { describe, expect, it } from 'vitest';
import { axisValues, emptyAxis, sweepRows, sweptOf } from '../../../../functions/console/entry/sweep.ts';

const range = (from: string, to: string, steps: string, type: 'int' | 'float' = 'float') =>
  axisValues({ ...emptyAxis, from, to, steps }, type);
const valuesOf = (...given: Parameters<typeof range>) => {
  const read = range(...given);
  return 'values' in read ? read.values : [read.problem];
};

describe('a range in steps', () => {
  it('has both ends, and no digits of rounding', () => {
    expect(valuesOf('0.25', '12.5', '50')).toHaveLength(50);
    expect(valuesOf('0.25', '12.5', '50').slice(0, 3)).toEqual(['0.25', '0.50', '0.75']);
    expect(valuesOf('0.25', '12.5', '50').at(-1)).toBe('12.50');
    expect(valuesOf('0', '0.3', '4')).toEqual(['0.0', '0.1', '0.2', '0.3']);
    expect(valuesOf('-1', '1', '21')).toContain('0.0');
    expect(valuesOf('-1', '1', '21')).not.toContain('-0.0');
  });

  it('keeps twelve digits where a step has no end', () => {
    expect(valuesOf('0', '1', '4')).toEqual(['0', '0.33333333333', '0.66666666667', '1']);
    expect(valuesOf('1e-9', '3e-9', '3').map(Number)).toEqual([1e-9, 2e-9, 3e-9]);
    expect(valuesOf('0', '3e20', '4').map(Number)).toEqual([0, 1e20, 2e20, 3e20]);
  });

  it('goes down as well, and stands', () => {
    expect(valuesOf('2', '1', '3')).toEqual(['2.0', '1.5', '1.0']);
    expect(valuesOf('5', '5', '1')).toEqual(['5']);
  });

  it('has whole numbers for a whole variable, each once', () => {
    expect(valuesOf('100', '110', '3', 'int')).toEqual(['100', '105', '110']);
    expect(valuesOf('1', '3', '5', 'int')).toEqual(['1', '2', '3']);
  });

  it.each([
    ['', '1', '3'],
    ['0', 'x', '3'],
    ['0', '1', ''],
    ['0', '1', '2.5'],
    ['0', '1', '0'],
    ['0', '1', '1'],
    ['0', '1', '5001'],
  ])('from %j to %j in %j steps is refused', (from, to, steps) => {
    expect(range(from, to, steps)).toHaveProperty('problem');
  });
});

describe('a list of values', () => {
  const list = (text: string, type: 'int' | 'float' = 'float') => axisValues({ ...emptyAxis, list: text }, type);

  it('is kept as it was typed', () => {
    expect(list('0.10, 2 3e1')).toEqual({ values: ['0.10', '2', '3e1'] });
  });

  it.each([
    ['', 'float'],
    ['1, a', 'float'],
    ['1.5', 'int'],
  ] as const)('%j for %s is refused', (text, type) => expect(list(text, type)).toHaveProperty('problem'));
});

describe('rows', () => {
  const omega = { name: 'omega', type: 'float', size: 1 } as const;
  const times = { name: 'times', type: 'int', size: 2 } as const;
  const base = { id: 9, runs: '50', values: { omega: '7', times: '[3, 4]', kept: 'x' } };
  const [ofOmega, first, second] = sweptOf([omega, times]);

  it('are the grid of two axes, with all else as in the row that was there', () => {
    const axes = [
      { swept: ofOmega!, values: ['1', '2'] },
      { swept: second!, values: ['5', '6'] },
    ];
    expect(sweepRows(base, axes)).toEqual([
      { id: 1, runs: '50', values: { omega: '1', times: '[3, 5]', kept: 'x' } },
      { id: 2, runs: '50', values: { omega: '1', times: '[3, 6]', kept: 'x' } },
      { id: 3, runs: '50', values: { omega: '2', times: '[3, 5]', kept: 'x' } },
      { id: 4, runs: '50', values: { omega: '2', times: '[3, 6]', kept: 'x' } },
    ]);
  });

  it('fill an array that is not there yet', () => {
    const [row] = sweepRows({ ...base, values: {} }, [{ swept: first!, values: ['8'] }]);
    expect(row!.values).toEqual({ times: '[8, 0]' });
  });

  it('are offered for numbers, not for traps or free variables', () => {
    const mapping = { name: 'qubits', type: 'int', size: 1, qubits: ['a'] } as const;
    const labels = sweptOf([mapping, omega, times, { name: 'variables', type: 'json', size: 1 }]).map(
      ({ label }) => label,
    );
    expect(labels).toEqual(['omega', 'times[0]', 'times[1]']);
  });
});
