import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { locateSummarized, type SummarizedRows } from '../../../../functions/data/lists/page-bounds.ts';
import { cases } from '../../../support/depth.ts';
import { seed } from '../../../support/seed.ts';

interface Place {
  readonly value: number;
  readonly row: number;
}

const ascending = (a: Place, b: Place) => a.value - b.value || a.row - b.row;
const firstOf = ({ low, rows }: SummarizedRows): Place => ({ value: low ?? 0, row: rows.from });
const lastOf = ({ high, rows }: SummarizedRows): Place => ({ value: high ?? 0, row: rows.to });

/** Each summarized row at its first or last place, beside the rows that were read: all sorted. */
const spread = (
  read: readonly Place[],
  summarized: readonly SummarizedRows[],
  placeOf: (summarized: SummarizedRows) => Place,
) =>
  [...read, ...summarized.flatMap((each) => Array.from({ length: each.count }, () => placeOf(each)))].sort(ascending);

/**
 * Segments of 10 rows: of each either rows with their values, which were read, or what its summary
 * says.
 */
const segments = fc.array(
  fc.oneof(
    fc.array(fc.nat(5), { maxLength: 10 }).map((values) => ({ values, cells: [] })),
    fc
      .array(
        fc.record({ low: fc.nat(5), spread: fc.constantFrom(0, 0, 0, 1, 3), count: fc.integer({ min: 1, max: 4 }) }),
        {
          maxLength: 3,
        },
      )
      .map((cells) => ({ values: [], cells })),
  ),
  { maxLength: 12 },
);

function sectionOf(of: typeof segments extends fc.Arbitrary<infer Value> ? Value : never) {
  const read = of.flatMap(({ values }, segment) => values.map((value, at) => ({ value, row: segment * 10 + at })));
  const summarized = of.flatMap(({ cells }, segment) =>
    cells.map(({ low, spread: width, count }): SummarizedRows => {
      return { rows: { from: segment * 10, to: segment * 10 + 9 }, low, high: low + width, count };
    }),
  );
  return { read, summarized, length: summarized.reduce((sum, { count }) => sum + count, read.length) };
}

describe('locateSummarized', () => {
  it('asks for just those segments whose rows may be in the window, and counts the rows before it', () => {
    const runs = cases(1_000, 20_000);
    let [settled, asked] = [0, 0];
    fc.assert(
      fc.property(segments, fc.nat(40), fc.integer({ min: 1, max: 5 }), (of, from, limit) => {
        const { read, summarized, length } = sectionOf(of);
        fc.pre(from < length);
        const to = Math.min(from + limit, length);
        const values = {
          rows: Int32Array.from(read, ({ row }) => row),
          values: Float64Array.from(read, ({ value }) => value),
        };
        const first = spread(read, summarized, firstOf)[from] as Place;
        const last = spread(read, summarized, lastOf)[to - 1] as Place;
        const wanted = summarized.filter(
          (each) => ascending(lastOf(each), first) >= 0 && ascending(firstOf(each), last) <= 0,
        );
        const found = locateSummarized({ ...values, summarized }, { from, to });
        expect(found.wanted).toEqual(wanted);
        if (wanted.length > 0) {
          asked++;
          return;
        }
        if (summarized.length > 0) settled++;
        const before = summarized.filter((each) => ascending(lastOf(each), first) < 0);
        expect(found.before).toBe(before.reduce((sum, { count }) => sum + count, 0));
      }),
      { numRuns: runs, seed },
    );
    expect(settled).toBeGreaterThan(runs / 10);
    expect(asked).toBeGreaterThan(runs / 5);
  });

  it('takes rows without a value as alike, in the order of their segments', () => {
    const summarized = [0, 10, 20].map(
      (from): SummarizedRows => ({ rows: { from, to: from + 9 }, low: null, high: null, count: 2 }),
    );
    const section = { rows: Int32Array.of(30, 31), values: new Float64Array(2), summarized };
    expect(locateSummarized(section, { from: 2, to: 4 })).toMatchObject({ wanted: [{ rows: { from: 10, to: 19 } }] });
    expect(locateSummarized(section, { from: 6, to: 8 })).toEqual({ before: 6, wanted: [] });
  });

  it('knows the places of all rows where none is summarized', () => {
    const section = { rows: Int32Array.of(3), values: Float64Array.of(1), summarized: [] };
    expect(locateSummarized(section, { from: 0, to: 1 })).toEqual({ before: 0, wanted: [] });
  });
});
