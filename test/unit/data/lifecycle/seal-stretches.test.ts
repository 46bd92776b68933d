import { describe, expect, it } from 'vitest';
import { jobList } from '../../../../functions/data/columns/lists.ts';
import { planSealing } from '../../../../functions/data/lifecycle/seal-stretches.ts';

/**
 * A stretch has 18 times 256 rows. It is old when the blocks hold half a stretch more; 16 rows may
 * be in the tail.
 */
const { rowsPerStretch } = jobList;
const rowsToSeal = 1.5 * rowsPerStretch;

describe('planSealing', () => {
  it.each([
    ['no multiple of 256', rowsToSeal + 1, rowsToSeal + 255, []],
    ['256 rows, none of them old', 255, 256, []],
    ['many rows, none of them old', 0, rowsToSeal, []],
    ['rows that make the first ones old', rowsToSeal - 1, rowsToSeal + 1, [0]],
    ['a multiple of 256 after rows that have made the first ones old', rowsToSeal + 255, rowsToSeal + 256, [0]],
    ['a multiple at which no old stretch has its turn', rowsToSeal + 511, rowsToSeal + 512, []],
    ['rows that make several stretches old, and another one has its turn', 0, 5.5 * rowsPerStretch + 17, [4, 3]],
  ])('after %s', (_, before, after, stretches) => {
    expect(planSealing(jobList, { before, after })).toEqual(stretches);
  });

  it.each([1, 5, 18, 40, 216])('gives each of %d old stretches its turn, and not too often', (count) => {
    const rows = (count + 0.5) * rowsPerStretch + 512;
    const rowsOfRound = Math.max(count, 18) * 256;
    const turns = Array.from({ length: count }, () => [] as number[]);
    for (let before = rows; before < rows + 12 * rowsOfRound; before += 64) {
      for (const stretch of planSealing(jobList, { before, after: before + 64 })) turns[stretch]?.push(before);
    }
    for (const places of turns) {
      expect(places.length).toBeGreaterThan(2);
      expect(places.length).toBeLessThan(30);
    }
  });
});
