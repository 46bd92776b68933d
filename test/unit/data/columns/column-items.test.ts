import { describe, expect, it } from 'vitest';
import {
  type BlockEdit,
  columnEdits,
  columnValue,
  type Row,
  setEdits,
  setValues,
} from '../../../../functions/data/columns/column-items.ts';
import type { Column, ListDescription } from '../../../../functions/data/columns/list-description.ts';
import { packIntegers } from '../../../../functions/data/columns/packed-integers.ts';
import { packUuids } from '../../../../functions/data/columns/packed-uuids.ts';
import { packPositions } from '../../../../functions/data/columns/position-set.ts';
import { CorruptData } from '../../../../functions/errors.ts';

const columns = {
  id: { kind: 'uuid', key: 'i', attribute: 'id', rowsPerBlock: 4 },
  count: { kind: 'integer', key: 'n', attribute: 'count', rowsPerBlock: 4 },
  time: { kind: 'time', key: 't', attribute: 'time', rowsPerBlock: 4 },
} as const satisfies Record<string, Column>;
const list: ListDescription = {
  key: 'l',
  table: 'Batches',
  rowsInTail: 4,
  textsPerBlock: 2,
  rowsPerSegment: 140,
  rowsPerTimeEntry: 6,
  columns,
  sets: { tag: { key: 's', attribute: 'tags', rowsPerBlock: 4 } },
  rowDefaults: {},
};
const row = (seq: number, members: object = {}): Row => ({
  seq,
  id: '00000000-0000-0000-0000-00000000000a',
  count: 7,
  time: null,
  tags: ['a'],
  ...members,
});

describe('columnValue', () => {
  it.each<[Column, unknown, unknown]>([
    [columns.id, '00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-00000000000a'],
    [columns.count, 0, 0],
    [columns.count, null, null],
    [columns.count, undefined, null],
    [columns.time, '1970-01-01T00:00:01.000002Z', 1_000_002],
    [columns.time, null, null],
    [columns.time, undefined, null],
  ])('of %j and %j is %j', (column, stored, value) => {
    const { [column.kind === 'facets' ? '' : column.attribute]: _, ...rest } = row(0) as Record<string, unknown>;
    const attribute = column.kind === 'facets' ? '' : column.attribute;
    expect(columnValue(column, { ...rest, [attribute]: stored } as Row, {})).toBe(value);
  });

  it.each([
    [columns.id, null],
    [columns.id, undefined],
    [columns.id, 5],
    [columns.count, '5'],
    [columns.count, true],
    [columns.time, 5],
    [columns.time, true],
  ])('refuses for %j a row with %j', (column, stored) => {
    expect(() => columnValue(column, row(0, { [column.attribute]: stored }), {})).toThrow(CorruptData);
    expect(() => columnValue(column, row(0, { [column.attribute]: stored }), {})).toThrow(column.attribute);
  });
});

describe('setValues', () => {
  it.each([
    [
      ['a', 'b', 'a'],
      ['a', 'b'],
    ],
    ['a', ['a']],
    [[], []],
    [null, []],
    [undefined, []],
  ])('of %j are %j', (tags, values) => {
    expect([...setValues({ key: 's', attribute: 'tags', rowsPerBlock: 4 }, row(0, { tags }))]).toEqual(values);
  });
});

describe('setEdits', () => {
  const keysOf = (before: Row | undefined, after: Row) => [...setEdits(list, { before, after })].map(({ key }) => key);

  it('touch only the sets that a row joins or leaves', () => {
    const before = row(5, { tags: ['a', 'b'] });
    expect(keysOf(undefined, before)).toHaveLength(2);
    expect(keysOf(before, { ...before })).toEqual([]);
    expect(keysOf(before, { ...before, tags: ['b', 'c'] })).toHaveLength(2);
    expect(keysOf(before, { ...before, tags: [] })[0]).toMatch(/^l#s#[\w-]{22}#0000001$/);
  });

  it('put a row into a block and take it out, and leave no empty block', () => {
    const [tag] = setEdits(list, { before: undefined, after: row(6) });
    expect(tag?.apply(undefined)).toEqual(packPositions([2]));
    const [untag] = setEdits(list, { before: row(6), after: row(6, { tags: [] }) });
    expect(untag?.apply(packPositions([1, 2]))).toEqual(packPositions([1]));
    expect(untag?.apply(packPositions([2]))).toBeUndefined();
  });
});

describe('columnEdits', () => {
  const uuid = (digit: number) => `00000000-0000-0000-0000-00000000000${digit}`;
  const apply = (edits: Iterable<BlockEdit>, blocks: Record<string, Uint8Array> = {}) =>
    Object.fromEntries(Array.from(edits, (edit) => [edit.key, edit.apply(blocks[edit.key])]));

  it('put values into the blocks of their rows', () => {
    expect(
      apply(columnEdits(list, columns.count, 2, [2, null, 4, 5, 6, 7, 8]), { 'l#n#0000000': packIntegers([0, 1]) }),
    ).toEqual({
      'l#n#0000000': packIntegers([0, 1, 2, null]),
      'l#n#0000001': packIntegers([4, 5, 6, 7]),
      'l#n#0000002': packIntegers([8]),
    });
    expect(apply(columnEdits(list, columns.count, 2, []))).toEqual({});
  });

  it('keep the values around them', () => {
    const blocks = { 'l#t#0000000': packIntegers([0, null, 2, 3]), 'l#i#0000000': packUuids([1, 2, 3].map(uuid)) };
    expect(apply(columnEdits(list, columns.time, 1, [9]), blocks)).toEqual({
      'l#t#0000000': packIntegers([0, 9, 2, 3]),
    });
    expect(apply(columnEdits(list, columns.id, 1, [uuid(9)]), blocks)).toEqual({
      'l#i#0000000': packUuids([1, 9, 3].map(uuid)),
    });
  });

  it('fill what lies between with null', () => {
    expect(apply(columnEdits(list, columns.count, 2, [7]))).toEqual({ 'l#n#0000000': packIntegers([null, null, 7]) });
    expect(apply(columnEdits(list, columns.id, 1, [uuid(7)]))).toEqual({ 'l#i#0000000': packUuids([0, 7].map(uuid)) });
  });
});
