import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchList } from '../../../../functions/data/columns/lists.ts';
import {
  blocksOfSegment,
  packSummary,
  sealableSegments,
  summarize,
  summaryPrefix,
  unpackSummary,
} from '../../../../functions/data/columns/summary.ts';

const { updated_at: time, jobs_count: integer, facets } = batchList.columns;
const none = Number.NaN;

describe('a summary', () => {
  it('counts each different value of a column of numbers, and those that are null last', () => {
    const cells = [
      { low: 3, high: 3, count: 2 },
      { low: 7, high: 7, count: 1 },
      { low: null, high: null, count: 2 },
    ];
    expect(summarize(integer, Float64Array.of(7, none, 3, 3, none))).toEqual(cells);
    expect(summarize(facets, Float64Array.of(7, none, 3, 3, none))).toEqual(cells);
  });

  it('says from where to where times reach', () => {
    expect(summarize(time, Float64Array.of(7, none, 3, 3))).toEqual([
      { low: 3, high: 7, count: 3 },
      { low: null, high: null, count: 1 },
    ]);
    expect(summarize(time, Float64Array.of(none))).toEqual([{ low: null, high: null, count: 1 }]);
    expect(summarize(time, Float64Array.of())).toEqual([]);
  });

  it('has one cell for all numbers where they are of more than 1,024 values', () => {
    const upTo = (count: number) => Float64Array.from({ length: count + 1 }, (_, at) => (at === 0 ? none : at * 3));
    expect(summarize(integer, upTo(1_024))).toHaveLength(1_025);
    expect(summarize(integer, upTo(1_025))).toEqual([
      { low: 3, high: 3_075, count: 1_025 },
      { low: null, high: null, count: 1 },
    ]);
  });

  it('comes back as it was packed', () => {
    const values = fc.array(fc.oneof(fc.constant(none), fc.nat(20), fc.maxSafeNat()), { maxLength: 60 });
    fc.assert(
      fc.property(values, fc.constantFrom(time, integer), (numbers, column) => {
        const cells = summarize(column, Float64Array.from(numbers));
        expect(cells.reduce((sum, { count }) => sum + count, 0)).toBe(numbers.length);
        expect(unpackSummary(packSummary(cells))).toEqual(cells);
      }),
    );
  });

  it('is refused when it is of another format', () => {
    const bytes = packSummary(summarize(time, Float64Array.of(7, none, 3)));
    for (const kind of [0, 3, 255]) expect(() => unpackSummary(bytes.with(0, kind))).toThrow(RangeError);
  });

  it('is refused when it ends too early', () => {
    const bytes = packSummary(summarize(time, Float64Array.of(7, none, 3)));
    for (let length = 0; length < bytes.length; length++) {
      expect(() => unpackSummary(bytes.subarray(0, length))).toThrow(RangeError);
    }
  });

  it('lies apart from the blocks of its column', () => {
    expect(summaryPrefix(batchList, time) > `b#${time.key}#9999999`).toBe(true);
  });
});

describe('a segment', () => {
  it('begins where a block begins', () => {
    const blocks = (column: typeof facets | typeof time, segment: number) =>
      blocksOfSegment(batchList, column, segment).map((key) => Number(key.slice(-7)));
    const from = (first: number, length: number) => Array.from({ length }, (_, at) => first + at);
    expect([0, 1, 2].map((segment) => blocks(facets, segment))).toEqual([from(0, 24), from(24, 24), from(48, 24)]);
    expect([0, 1, 2].map((segment) => blocks(time, segment))).toEqual([from(0, 32), from(32, 32), from(64, 32)]);
  });

  it('may be sealed once half a segment of rows is behind it', () => {
    const rows = [0, 4_608, 6_911, 6_912, 11_519, 11_520];
    expect(rows.map((count) => sealableSegments(batchList, count))).toEqual([0, 0, 0, 1, 1, 2]);
  });
});
