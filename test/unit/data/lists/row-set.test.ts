import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addRow,
  emptyRowSet,
  hasRow,
  intersect,
  type RowSet,
  spanOf,
} from '../../../../functions/data/lists/row-set.ts';

const rows = fc.uniqueArray(fc.nat(99), { maxLength: 40 }).map((numbers) => numbers.sort((a, b) => a - b));

/** The rows of the set, ascending, and whatever else it says that it has. */
const rowsOf = (set: RowSet) =>
  Array.from({ length: set.length * 8 }, (_, row) => row).filter((row) => hasRow(set, row));

function setOf(numbers: readonly number[], rowCount = 100) {
  const set = emptyRowSet(rowCount);
  for (const row of numbers) addRow(set, row);
  return set;
}

describe('a set of rows', () => {
  it('holds the rows that were added, ascending', () => {
    fc.assert(
      fc.property(rows, (numbers) => {
        const set = setOf(numbers);
        expect(rowsOf(set)).toEqual(numbers);
        expect(Array.from({ length: 120 }, (_, row) => row).filter((row) => hasRow(set, row))).toEqual(numbers);
        const span = numbers.length === 0 ? undefined : { from: numbers[0], to: numbers.at(-1) };
        expect(spanOf(set)).toEqual(span);
      }),
    );
  });

  it('intersects with others, also with shorter ones', () => {
    fc.assert(
      fc.property(rows, rows, (one, other) => {
        const both = one.filter((row) => other.includes(row));
        const shorter = setOf(other, (other.at(-1) ?? -1) + 1);
        expect(rowsOf(intersect([setOf(one), shorter]) ?? emptyRowSet(0))).toEqual(both);
      }),
    );
    expect(intersect([])).toBeUndefined();
  });

  it('is not changed by an intersection', () => {
    const one = setOf([1, 2]);
    intersect([one, setOf([2])]);
    expect(rowsOf(one)).toEqual([1, 2]);
  });
});
