import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isSealed,
  packedCount,
  packIntegers,
  seal,
  unpackIntegers,
} from '../../../../functions/data/columns/packed-integers.ts';
import { packUuids, uuidAt } from '../../../../functions/data/columns/packed-uuids.ts';
import { packPositions, positionsOf, withPosition } from '../../../../functions/data/columns/position-set.ts';

const unpacked = (bytes: Uint8Array) => {
  const values = new Float64Array(packedCount(bytes));
  unpackIntegers(bytes, values);
  return Array.from(values, (value) => (Number.isNaN(value) ? null : value));
};

describe('packed integers', () => {
  it('come back as they were, nulls and extremes included', () => {
    const integers = fc.oneof(
      fc.constant(null),
      fc.nat(300),
      fc.constantFrom(
        0,
        1,
        254,
        255,
        256,
        65_534,
        65_535,
        65_536,
        Number.MAX_SAFE_INTEGER - 1,
        Number.MAX_SAFE_INTEGER,
      ),
      fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
      fc.integer({ min: 0, max: 4_000_000_000 }).map((milliseconds) => 1_770_000_000_000_000 + milliseconds * 1_000),
    );
    fc.assert(
      fc.property(fc.array(integers, { maxLength: 300 }), (values) => {
        expect(unpacked(packIntegers(values))).toEqual(values);
      }),
    );
  });

  it('take as many bits as their spread, and the null, need', () => {
    const bytes = (...values: (number | null)[]) => packIntegers(values).length - packIntegers([]).length;
    expect(bytes(0, 1, null, 1)).toBe(1);
    expect(bytes(7, 13, null, 7, 7, 7, 7, 7)).toBe(3);
    expect(bytes(7, 14, null, 7, 7, 7, 7, 7)).toBe(4);
    const midnight = 1_770_000_000_000_000;
    expect(bytes(...Array.from({ length: 8 }, (_, at) => midnight + at * 12_342_857_000))).toBe(27);
    expect(bytes(...Array.from({ length: 8 }, () => null))).toBe(1);
  });

  it('are written as far as the target reaches', () => {
    const target = new Float64Array(4).fill(-1);
    expect(unpackIntegers(packIntegers([1, 2, 3]), target, 2)).toBe(3);
    expect(Array.from(target)).toEqual([-1, -1, 1, 2]);
  });

  it('refuse a block of another format', () => {
    const block = packIntegers([1, 2_000, 3]);
    for (const changed of [0x00, 0x01, 0x13, 0x23, 0x30]) {
      expect(() => unpacked(block.with(2, changed))).toThrow(RangeError);
    }
  });

  it('hold the same values in a sealed block, and are open when they are packed anew', () => {
    for (const values of [[], [null], [1, 2_000, 3], [5_000, 1_000_005_000]]) {
      const block = packIntegers(values);
      expect(isSealed(block)).toBe(false);
      expect(isSealed(seal(block))).toBe(true);
      expect(seal(seal(block))).toEqual(seal(block));
      expect(unpacked(seal(block))).toEqual(values);
      expect(packIntegers(unpacked(seal(block)))).toEqual(block);
    }
  });

  it('refuse a block that ends too early', () => {
    const block = packIntegers([1, 2_000, 3]);
    for (let length = 0; length < block.length; length++) {
      expect(() => unpacked(block.subarray(0, length))).toThrow(RangeError);
    }
  });
});

describe('packed UUIDs', () => {
  it('come back in canonical form from where they were put', () => {
    fc.assert(
      fc.property(fc.array(fc.uuid(), { minLength: 1, maxLength: 60 }), (uuids) => {
        const block = Buffer.from(packUuids(uuids));
        expect(uuids.map((_, index) => uuidAt(block, index))).toEqual(uuids);
      }),
    );
  });
});

describe('position sets', () => {
  const positions = fc.uniqueArray(fc.nat(4_095), { maxLength: 50 }).map((values) => values.sort((a, b) => a - b));

  it('hold exactly the positions put in', () => {
    fc.assert(
      fc.property(positions, (values) => {
        const block = packPositions(values);
        expect(block === undefined ? [] : positionsOf(block)).toEqual(values);
      }),
    );
  });

  it('follow every addition and removal like a set, and vanish with the last', () => {
    // Few different positions, so that many are removed again.
    const changes = fc.array(fc.tuple(fc.constantFrom(0, 7, 8, 100, 101, 4_095), fc.boolean()), { maxLength: 60 });
    fc.assert(
      fc.property(changes, (steps) => {
        const model = new Set<number>();
        let block: Uint8Array | undefined;
        for (const [position, present] of steps) {
          if (present) model.add(position);
          else model.delete(position);
          block = withPosition(block, position, present);
          expect(block === undefined ? [] : positionsOf(block)).toEqual([...model].sort((a, b) => a - b));
        }
      }),
    );
  });

  it('keep neither leading nor trailing zero bytes', () => {
    expect(packPositions([4_000, 4_007])?.length).toBe(3);
  });
});
