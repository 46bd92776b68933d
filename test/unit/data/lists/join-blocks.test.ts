import { describe, expect, it } from 'vitest';
import { blockBytes, blockNumber } from '../../../../functions/data/columns/column-items.ts';
import type { Column } from '../../../../functions/data/columns/list-description.ts';
import { packIntegers } from '../../../../functions/data/columns/packed-integers.ts';
import { packUuids, uuidAt } from '../../../../functions/data/columns/packed-uuids.ts';
import {
  type ColumnExtent,
  emptyColumn,
  fillColumn,
  StaleRead,
  splitByKind,
} from '../../../../functions/data/lists/join-blocks.ts';
import { CorruptData } from '../../../../functions/errors.ts';

const integers: Column = { kind: 'integer', key: 'n', attribute: 'size', rowsPerBlock: 4 };
const times: Column = { kind: 'time', key: 's', attribute: 'started', rowsPerBlock: 4 };
const uuids: Column = { kind: 'uuid', key: 'i', attribute: 'id', rowsPerBlock: 4 };

const keyOf = (number: number) => `x#n#${String(number).padStart(7, '0')}`;
const block = (number: number, ...values: (number | null)[]) => ({ key: keyOf(number), v: packIntegers(values) });
const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const uuidBlock = (number: number, ...values: number[]) => ({
  key: keyOf(number),
  v: packUuids(values.map(uuid)),
});

const whole = [block(0, 0, 1, 2, 3), block(1, 4, 5, 6, 7), block(2, 8, 9)];
const all = { from: 0, to: 9 };
type Blocks = readonly { readonly key: string; readonly v: unknown }[];
function joinBlocks(column: Column, blocks: Blocks, { rowCount, ...extent }: ColumnExtent & { rowCount: number }) {
  const values = emptyColumn(column, rowCount);
  fillColumn(values, column, new Map(blocks.map((item) => [blockNumber(item), blockBytes(item)])), extent);
  return values;
}
/** Without a tail. */
const join = (column: Column, blocks: Blocks, rowCount = 10, wanted = all) => [
  ...joinBlocks(column, blocks, { rowCount, wanted, tailStart: rowCount, tail: undefined }),
];

describe('fillColumn', () => {
  it.each([integers, times])('joins whole columns of $kind', (column) => {
    expect(join(column, whole)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('joins UUIDs', () => {
    const joined = joinBlocks(uuids, [uuidBlock(0, 1, 2, 3, 4), uuidBlock(1, 5, 6)], {
      rowCount: 6,
      tailStart: 6,
      tail: undefined,
      wanted: { from: 0, to: 5 },
    });
    expect(joined.length).toBe(6 * 16);
    expect([0, 3, 4, 5].map((row) => uuidAt(joined as Buffer, row))).toEqual([1, 4, 5, 6].map(uuid));
  });

  it('gives NaN for null', () => {
    expect(join(integers, [block(0, 1, null)], 2, { from: 0, to: 1 })).toEqual([1, Number.NaN]);
  });

  it('leaves out values that are newer than the rows', () => {
    expect(join(integers, whole, 6, { from: 0, to: 5 })).toEqual([0, 1, 2, 3, 4, 5]);
    expect(join(integers, whole, 4, { from: 0, to: 3 })).toEqual([0, 1, 2, 3]);
    const ids = joinBlocks(uuids, [uuidBlock(0, 1, 2, 3, 4), uuidBlock(1, 5)], {
      rowCount: 2,
      tailStart: 2,
      tail: undefined,
      wanted: { from: 0, to: 1 },
    });
    expect(ids.length).toBe(2 * 16);
  });

  it.each([
    ['the first', whole.slice(1)],
    ['one in the middle', whole.toSpliced(1, 1)],
    ['the last', whole.slice(0, -1)],
    ['every', []],
  ])('refuses a column that lacks %s block', (_, blocks) => {
    expect(() => join(integers, blocks)).toThrow(StaleRead);
    expect(() =>
      join(
        uuids,
        blocks.map(({ key }) => ({ key, v: new Uint8Array(64) })),
      ),
    ).toThrow(StaleRead);
  });

  it.each([
    ['in the middle', [block(0, 0, 1, 2), block(1, 4, 5, 6, 7), block(2, 8, 9)]],
    ['at the end', [block(0, 0, 1, 2, 3), block(1, 4, 5, 6, 7), block(2, 8)]],
  ])('refuses a block that is not full %s', (_, blocks) => {
    expect(() => join(integers, blocks)).toThrow(StaleRead);
  });

  it('takes the values from the start of the tail on from the tail', () => {
    const extent = { rowCount: 8, tailStart: 5, tail: packIntegers([50, null, 70]), wanted: { from: 0, to: 7 } };
    const joined = [0, 1, 2, 3, 4, 50, Number.NaN, 70];
    expect([...joinBlocks(integers, [whole[0]!, block(1, 4)], extent)]).toEqual(joined);
    // A writer has moved the tail since the head was read.
    expect([...joinBlocks(times, whole, extent)]).toEqual(joined);
    // The blocks were read before the writer moved the tail.
    expect(() => joinBlocks(times, whole.slice(0, 1), extent)).toThrow(StaleRead);
    const newest = { ...extent, wanted: { from: 5, to: 7 } };
    expect([...joinBlocks(integers, [], newest)].slice(5)).toEqual([50, Number.NaN, 70]);
    const ids = { rowCount: 3, tailStart: 1, tail: packUuids([8, 9].map(uuid)), wanted: { from: 0, to: 2 } };
    const joinedIds = joinBlocks(uuids, [uuidBlock(0, 1, 2, 3)], ids) as Buffer;
    expect([0, 1, 2].map((row) => uuidAt(joinedIds, row))).toEqual([1, 8, 9].map(uuid));
  });

  it('calls a tail that is too short corrupt', () => {
    const extent = { rowCount: 3, tailStart: 0, tail: packIntegers([1, 2]), wanted: { from: 0, to: 2 } };
    expect(() => joinBlocks(integers, [], extent)).toThrow(CorruptData);
    expect(() => joinBlocks(integers, [], { ...extent, tail: undefined })).toThrow(CorruptData);
  });

  it('needs only the wanted rows', () => {
    const part = join(integers, [block(1, 4, 5, 6, 7)], 10, { from: 5, to: 7 });
    expect(part.slice(4, 8)).toEqual([4, 5, 6, 7]);
    expect(() => join(integers, [block(1, 4, 5, 6)], 10, { from: 5, to: 7 })).toThrow(StaleRead);
    expect(() => join(integers, [block(2, 8, 9)], 10, { from: 7, to: 8 })).toThrow(StaleRead);
    expect(() => join(integers, [block(0, 0, 1, 2, 3)], 10, { from: 3, to: 4 })).toThrow(StaleRead);
  });

  it('calls a block without bytes corrupt', () => {
    expect(() => join(integers, [{ key: keyOf(0), v: 'text' }])).toThrow(CorruptData);
    expect(() => join(integers, [{ key: keyOf(0), v: 'text' }])).toThrow(`The block ${keyOf(0)} holds no bytes.`);
  });
});

describe('splitByKind', () => {
  it('keeps numbers and UUIDs apart', () => {
    const [numbers, ids] = [new Float64Array(1), Buffer.alloc(16)];
    const columns = [['size', numbers] as const, ['id', ids] as const];
    expect(splitByKind(columns)).toEqual({ numbers: new Map([['size', numbers]]), uuids: new Map([['id', ids]]) });
  });
});
