import { describe, expect, it } from 'vitest';
import { barsOf, csvOf, readCounter } from '../../../functions/console/parts/counter.ts';

describe('counters', () => {
  const counts = readCounter({ counter: { '01': 2, '11': 5, '00': 2, '10': 1 } })!;

  it('are read with the most frequent first', () => {
    expect(counts.map(({ bits, count }) => `${bits} ${count}`)).toEqual(['11 5', '00 2', '01 2', '10 1']);
  });

  it('sum what has no bar, whatever the order of the bars', () => {
    const bits = (by: 'frequent' | 'bits') => barsOf(counts, by, 2).bars.map((each) => each.bits);
    expect([bits('frequent'), bits('bits')]).toEqual([
      ['11', '00'],
      ['00', '11'],
    ]);
    expect(barsOf(counts, 'bits', 2).others).toBe(3);
    expect(barsOf(counts, 'bits').others).toBe(0);
  });

  it.each([
    [null],
    [7],
    [{}],
    [{ counter: {} }],
    [{ counter: [1] }],
    [{ counter: { '0': '1' } }],
    [{ counter: { '0': -1 } }],
  ])('%j has none', (document) => {
    expect(readCounter(document)).toBeUndefined();
  });

  it('are a file for spreadsheets', () => {
    expect(csvOf([{ bits: '0"1', count: 3 }])).toBe('bitstring,count\r\n"0""1",3\r\n');
  });
});
