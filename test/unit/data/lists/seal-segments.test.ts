import { describe, expect, it } from 'vitest';
import { changesPrefix } from '../../../../functions/data/columns/changes.ts';
import { blockKey, columnPrefix } from '../../../../functions/data/columns/column-items.ts';
import { batchList, jobList } from '../../../../functions/data/columns/lists.ts';
import { planSealing } from '../../../../functions/data/lists/seal-segments.ts';
import { tables } from '../../../../functions/tables.ts';

/** A segment has 18 blocks of 256 rows. It is old when the blocks hold half a segment more. */
const blocksOfSegment = 18;
const firstToSeal = 27;

describe('planSealing', () => {
  it('plans nothing while no segment is old', () => {
    for (let block = 0; block < firstToSeal; block++) expect(planSealing(jobList, block)).toEqual([]);
  });

  it('plans each segment as soon as it is old', () => {
    for (let segment = 0; segment < 300; segment++) {
      const block = firstToSeal + segment * blocksOfSegment;
      expect(planSealing(jobList, block)[0]).toBe(segment);
      expect(planSealing(jobList, block - 1)).not.toContain(segment);
    }
  });

  it.each([1, 5, 18, 40, 216])('gives each of %d old segments its turn, and not too often', (count) => {
    const first = firstToSeal + (count - 1) * blocksOfSegment + 1;
    const round = Math.max(count, blocksOfSegment);
    const turns = Array.from({ length: count }, () => 0);
    for (let block = first; block < first + 12 * round; block++) {
      const segments = planSealing(jobList, block);
      expect(segments.length).toBeLessThan(3);
      for (const segment of segments) if (segment < count) turns[segment]! += 1;
    }
    for (const number of turns) {
      expect(number).toBeGreaterThan(2);
      expect(number).toBeLessThan(30);
    }
  });
});

describe('the stream of columns', () => {
  it('names the first 256 million rows of the facets of both lists, and changes of both', () => {
    const [{ dynamodb }] = tables.Columns.stream.patterns;
    const lists = [batchList, jobList];
    const prefixes = [
      ...lists.map((list) => `${columnPrefix(list, list.columns.facets)}0`),
      ...lists.map(changesPrefix),
    ];
    expect(dynamodb.Keys.key.S).toEqual(prefixes.map((prefix) => ({ prefix })));
    expect(blockKey(columnPrefix(batchList, batchList.columns.facets), 999_999)).toBe('b#f#0999999');
  });
});
