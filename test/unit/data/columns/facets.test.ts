import { describe, expect, it } from 'vitest';
import { facetCode, indexOfFacet, withTextsOf } from '../../../../functions/data/columns/facets.ts';
import type { FacetColumn } from '../../../../functions/data/columns/list-description.ts';
import { CorruptData, LimitExceeded } from '../../../../functions/errors.ts';

const column: FacetColumn = {
  kind: 'facets',
  key: 'f',
  rowsPerBlock: 16,
  facets: {
    state: { kind: 'values', attribute: 'status', values: ['NEW', 'OLD', 'GONE'] },
    failed: { kind: 'counted', attribute: 'counts', member: 'ERROR' },
    hook: { kind: 'presence', attribute: 'webhook' },
    device: { kind: 'dictionary', attribute: 'device_type', capacity: 2 },
    last: { kind: 'values', attribute: 'open', values: [false, true] },
  },
};
const dictionaries = { device_type: ['A', 'B'] };
const row = {
  status: 'OLD',
  counts: { DONE: 0, ERROR: 70_000 },
  webhook: 'https://example.org',
  device_type: 'B',
  open: true,
};

describe('facetCode', () => {
  it('holds each facet’s index, which indexOfFacet reads again', () => {
    const code = facetCode(column, row, dictionaries);
    expect(code).toBe(1 + 3 * (1 + 2 * (1 + 2 * (1 + 2 * 1))));
    expect(Object.keys(column.facets).map((name) => indexOfFacet(column, name)(code))).toEqual([1, 1, 1, 1, 1]);
  });

  it.each([
    ['a text', 'x', 1],
    ['an empty text', '', 1],
    ['false', false, 1],
    ['zero', 0, 1],
    ['an array', ['x'], 1],
    ['an empty array', [], 0],
    ['null', null, 0],
    ['undefined', undefined, 0],
  ])('takes %s for present or absent', (_, webhook, index) => {
    expect(indexOfFacet(column, 'hook')(facetCode(column, { ...row, webhook }, dictionaries))).toBe(index);
  });

  it('distinguishes no count from any', () => {
    const code = facetCode(column, { ...row, counts: { DONE: 9, ERROR: 0 } }, dictionaries);
    expect(indexOfFacet(column, 'failed')(code)).toBe(0);
  });

  it.each([
    { status: 'LOST' },
    { counts: {} },
    { counts: null },
    { status: undefined },
    { open: 'true' },
    { device_type: 'C' },
    { device_type: null },
  ])('refuses a row with %j', (members) => {
    expect(() => facetCode(column, { ...row, ...members }, dictionaries)).toThrow(CorruptData);
  });

  it('refuses a text beyond the capacity, whose code would be that of another facet’s value', () => {
    expect(() => facetCode(column, { ...row, device_type: 'C' }, { device_type: ['A', 'B', 'C'] })).toThrow(
      CorruptData,
    );
  });
});

describe('withTextsOf', () => {
  it('adds new texts at the end and leaves what is known', () => {
    const learned = withTextsOf([column], row, {});
    expect(learned).toEqual({ device_type: ['B'] });
    expect(withTextsOf([column], { device_type: 'A' }, learned)).toEqual({ device_type: ['B', 'A'] });
    expect(withTextsOf([column], row, learned)).toBe(learned);
  });

  it('refuses more texts than the capacity', () => {
    expect(() => withTextsOf([column], { device_type: 'C' }, dictionaries)).toThrow(LimitExceeded);
  });
});
