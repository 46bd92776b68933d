import { describe, expect, it } from 'vitest';
import { facetCode, withTextsOf } from '../../../../functions/data/columns/facets.ts';
import type { FacetColumn } from '../../../../functions/data/columns/list-description.ts';
import { CorruptData, LimitExceeded } from '../../../../functions/errors.ts';

const column: FacetColumn = {
  kind: 'facets',
  key: 'f',
  rowsPerBlock: 4,
  facets: {
    device: { kind: 'dictionary', attribute: 'device', capacity: 3 },
    open: { kind: 'values', attribute: 'open', values: [false, true] },
  },
};
const learn = (...devices: string[]) =>
  devices.reduce((dictionaries, device) => withTextsOf([column], { device }, dictionaries), {});

describe('withTextsOf', () => {
  it('numbers texts in the order of their first use', () => {
    expect(learn('b', 'a', 'b', 'c')).toEqual({ device: ['b', 'a', 'c'] });
  });

  it('holds as many texts as the capacity of the facet, and no more', () => {
    expect(learn('a', 'b', 'c')).toEqual({ device: ['a', 'b', 'c'] });
    expect(learn('a', 'b', 'c', 'a')).toEqual({ device: ['a', 'b', 'c'] });
    expect(() => learn('a', 'b', 'c', 'd')).toThrow(LimitExceeded);
  });
});

describe('facetCode', () => {
  it('gives every combination of values a code of its own', () => {
    const dictionaries = learn('a', 'b', 'c');
    const codes = [false, true].flatMap((open) =>
      ['a', 'b', 'c'].map((device) => facetCode(column, { device, open }, dictionaries)),
    );
    expect(codes).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it.each([{ device: 'd', open: true }, { device: 'a', open: 'yes' }, { open: true }])(
    'refuses values that it does not know: %j',
    (row) => {
      expect(() => facetCode(column, row, learn('a'))).toThrow(CorruptData);
    },
  );
});
