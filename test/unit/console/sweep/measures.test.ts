import { describe, expect, it } from 'vitest';
import {
  excitations,
  firstOutcomes,
  meanOnes,
  peaksOf,
  readOutcome,
  shareOf,
} from '../../../../functions/console/sweep/measures.ts';

const counts = (counter: Record<string, number>) => Object.entries(counter).map(([bits, count]) => ({ bits, count }));

describe('shareOf', () => {
  it('has the error of a binomial distribution', () => {
    expect(shareOf(counts({ '00': 75, '01': 25 }), ['00'])).toEqual({ value: 0.75, error: Math.sqrt(0.1875 / 100) });
  });

  it('adds bitstrings, and knows those that never came', () => {
    expect(shareOf(counts({ '00': 50, '01': 30, '10': 20 }), ['01', '10', '11']).value).toBe(0.5);
  });

  it('is 0 without shots', () => {
    expect(shareOf(counts({ '0': 0 }), ['0'])).toEqual({ value: 0, error: 0 });
  });
});

describe('meanOnes', () => {
  it('has the standard error of its sample', () => {
    // 1, 1, 3: the mean is 5 / 3, the variance 4 / 3.
    const { value, error } = meanOnes(counts({ '001': 2, '111': 1 }))!;
    expect(value).toBeCloseTo(5 / 3, 12);
    expect(error).toBeCloseTo(Math.sqrt(4 / 3 / 3), 12);
  });

  it('reads nothing from outcomes that are no bits, or of several lengths', () => {
    expect(meanOnes(counts({ a: 3 }))).toBeUndefined();
    expect(meanOnes(counts({ '0': 3, '01': 1 }))).toBeUndefined();
  });
});

describe('excitations', () => {
  it('counts each atom in the order of the bits', () => {
    expect(excitations(counts({ '100': 30, '101': 10, '000': 60 }))!.map(({ value }) => value)).toEqual([0.4, 0, 0.1]);
  });

  it('reads bitstrings of 60 atoms', () => {
    const atoms = excitations(counts({ ['01'.repeat(30)]: 5 }))!;
    expect(atoms).toHaveLength(60);
    expect(atoms.map(({ value }) => value).slice(0, 4)).toEqual([0, 1, 0, 1]);
  });
});

describe('firstOutcomes', () => {
  const first = (...counters: Record<string, number>[]) => firstOutcomes(peaksOf(counters.map(counts)));

  it('takes outcomes that are frequent in some job', () => {
    expect(first({ '00': 99, '11': 1 }, { '00': 40, '11': 60 })).toEqual([['00'], ['11']]);
  });

  it('takes all bitstrings with one 1 together where they are alike', () => {
    expect(first({ '000': 90, '110': 10 }, { '100': 30, '010': 32, '001': 28, '000': 10 })).toEqual([
      ['000'],
      ['100', '010', '001'],
      ['110'],
    ]);
  });

  it('keeps their order when another one comes to lead', () => {
    expect(first({ '111': 80, '000': 20 })).toEqual([['000'], ['111']]);
    expect(first({ '111': 20, '000': 80 })).toEqual([['000'], ['111']]);
  });

  it('leaves them apart where they are not', () => {
    expect(first({ '10': 80, '01': 20 })).toEqual([['10'], ['01']]);
  });

  it('takes the most frequent one where none is frequent', () => {
    const many = Object.fromEntries(Array.from({ length: 32 }, (_, at) => [at.toString(2).padStart(5, '0'), 1]));
    expect(first({ ...many, '00111': 2 })).toEqual([['00111']]);
  });

  it('takes none where there are no counts', () => {
    expect(first()).toEqual([]);
  });
});

describe('readOutcome', () => {
  it('reads a sum, each bitstring once', () => {
    expect(readOutcome(' 100+010, 001 100')).toEqual(['100', '010', '001']);
  });

  it.each(['', '+', '012', 'abc', '1'.repeat(201)])('refuses %j', (text) => {
    expect(readOutcome(text)).toBeUndefined();
  });
});
