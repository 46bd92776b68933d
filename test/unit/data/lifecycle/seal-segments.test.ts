import { describe, expect, it } from 'vitest';
import { jobList } from '../../../../functions/data/columns/lists.ts';
import { planSealing } from '../../../../functions/data/lifecycle/seal-segments.ts';

/**
 * A segment has 18 times 256 rows. It is old when the blocks hold half a segment more; 16 rows may
 * be in the tail.
 */
const { rowsPerSegment } = jobList;
const rowsToSeal = 1.5 * rowsPerSegment;

describe('planSealing', () => {
  it.each([
    ['no multiple of 256', rowsToSeal + 1, rowsToSeal + 255, []],
    ['256 rows, none of them old', 255, 256, []],
    ['many rows, none of them old', 0, rowsToSeal, []],
    ['rows that make the first ones old', rowsToSeal - 1, rowsToSeal + 1, [0]],
    ['a multiple of 256 after rows that have made the first ones old', rowsToSeal + 255, rowsToSeal + 256, [0]],
    ['a multiple at which no old segment has its turn', rowsToSeal + 511, rowsToSeal + 512, []],
    ['rows that make several segments old, and another one has its turn', 0, 5.5 * rowsPerSegment + 17, [4, 3]],
  ])('after %s', (_, before, after, segments) => {
    expect(planSealing(jobList, { before, after })).toEqual(segments);
  });

  it.each([1, 5, 18, 40, 216])('gives each of %d old segments its turn, and not too often', (count) => {
    const rows = (count + 0.5) * rowsPerSegment + 512;
    const rowsOfRound = Math.max(count, 18) * 256;
    const turns = Array.from({ length: count }, () => [] as number[]);
    for (let before = rows; before < rows + 12 * rowsOfRound; before += 64) {
      for (const segment of planSealing(jobList, { before, after: before + 64 })) turns[segment]?.push(before);
    }
    for (const places of turns) {
      expect(places.length).toBeGreaterThan(2);
      expect(places.length).toBeLessThan(30);
    }
  });
});
