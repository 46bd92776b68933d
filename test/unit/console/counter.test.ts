import { describe, expect, it } from 'vitest';
import {
  barsOf,
  csvOf,
  deviationOf,
  excitationOf,
  jsonOf,
  lengthOf,
  order,
  outcomesOf,
  readCounter,
} from '../../../functions/console/parts/counter.ts';

describe('counters', () => {
  const counts = readCounter({ counter: { '01': 2, '11': 5, '00': 2, '10': 1 } })!;

  it('are read with the most frequent first', () => {
    expect(counts.map(({ bits, count }) => `${bits} ${count}`)).toEqual(['11 5', '00 2', '01 2', '10 1']);
  });

  it('count what has no bar, whatever the order of the bars', () => {
    const bits = (by: 'frequent' | 'bits') => barsOf(counts, by, 2).bars.map((each) => each.bits);
    expect([bits('frequent'), bits('bits')]).toEqual([
      ['11', '00'],
      ['00', '11'],
    ]);
    expect(barsOf(counts, 'bits', 2)).toMatchObject({ others: 2, shots: 3 });
    expect(barsOf(counts, 'bits', 4)).toMatchObject({ others: 0, shots: 0 });
  });

  it('have orders; of equal ones the more frequent is first', () => {
    const bits = (by: 'bits' | 'ones') => order(counts, by).map((each) => each.bits);
    expect(bits('bits')).toEqual(['00', '01', '10', '11']);
    expect(bits('ones')).toEqual(['11', '01', '10', '00']);
  });

  it('show all outcomes of five bits, and of six those that came', () => {
    const three = outcomesOf([{ bits: '010', count: 3 }]);
    expect(three.map(({ bits }) => bits)).toEqual(['010', '000', '001', '011', '100', '101', '110', '111']);
    expect(three.map(({ count }) => count)).toEqual([3, 0, 0, 0, 0, 0, 0, 0]);
    expect(outcomesOf([{ bits: '00000', count: 1 }])).toHaveLength(32);
    expect(outcomesOf([{ bits: '000000', count: 1 }])).toHaveLength(1);
  });

  it('show what came alone where outcomes are no bits, or of different lengths', () => {
    for (const odd of ['2', '001', '']) {
      const mixed = [
        { bits: '01', count: 1 },
        { bits: odd, count: 1 },
      ];
      expect(lengthOf(mixed)).toBeUndefined();
      expect(outcomesOf(mixed)).toEqual(mixed);
      expect(excitationOf(mixed)).toBeUndefined();
    }
  });

  it('give the share of shots in which each bit was 1, the first bit first', () => {
    expect(excitationOf(counts)).toEqual([0.6, 0.7]);
    expect(excitationOf([{ bits: '01', count: 0 }])).toBeUndefined();
  });

  it('are uncertain as binomial ones are', () => {
    expect(deviationOf(489, 1_000)).toBeCloseTo(0.0158, 4);
    for (const count of [1, 50, 99]) {
      expect(deviationOf(count, 100)).toBeCloseTo(Math.sqrt(((count / 100) * (1 - count / 100)) / 100), 12);
    }
  });

  it('are not certain where no shot, or every one, gave an outcome', () => {
    // Of 100 shots: about as uncertain as what one of them gave.
    expect(deviationOf(0, 100)).toBeCloseTo(0.0099, 4);
    expect(deviationOf(100, 100)).toBeCloseTo(0.0099, 4);
    expect(deviationOf(1, 1)).toBe(0.5);
    expect(deviationOf(0, 0)).toBe(0);
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
    const counts = [{ bits: '0"1', count: 3 }];
    expect(csvOf(counts, 42)).toBe('"bitstring","count","calibration"\r\n"0""1",3,42\r\n');
    expect(csvOf(counts, null)).toBe('"bitstring","count","calibration"\r\n"0""1",3,\r\n');
  });

  it('are a file with the number of the calibration, and nothing of the document is lost', () => {
    expect(JSON.parse(jsonOf({ counter: { '01': 1 } }, 42))).toEqual({ calibration: 42, counter: { '01': 1 } });
    expect(JSON.parse(jsonOf({ calibration: 'own' }, 42))).toEqual({ calibration: 'own' });
    expect(jsonOf([1], 42)).toBe('[1]');
  });
});
