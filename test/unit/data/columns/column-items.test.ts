import { describe, expect, it } from 'vitest';
import { blockEdits, columnValue, type Row, setValues } from '../../../../functions/data/columns/column-items.ts';
import type { Column, ListDescription } from '../../../../functions/data/columns/list-description.ts';
import { packIntegers } from '../../../../functions/data/columns/packed-integers.ts';
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

describe('blockEdits', () => {
  const keysOf = (before: Row | undefined, after: Row) =>
    blockEdits(list, { before, after }, {}).map(({ key }) => key.replace(/#[\w-]{22}#/, '#…#'));

  it('of a new row fill every column but empty times, and its sets', () => {
    expect(keysOf(undefined, row(5))).toEqual(['l#i#0000001', 'l#n#0000001', 'l#s#…#0000001']);
    expect(keysOf(undefined, row(5, { count: null, tags: [] }))).toEqual(['l#i#0000001', 'l#n#0000001']);
  });

  it('of a changed row touch only what changes', () => {
    const before = row(5, { tags: ['a', 'b'] });
    expect(keysOf(before, { ...before })).toEqual([]);
    expect(keysOf(before, { ...before, time: '2026-03-01T00:00:00.000000Z' })).toEqual(['l#t#0000001']);
    expect(keysOf(before, { ...before, count: null })).toEqual(['l#n#0000001']);
    expect(keysOf(before, { ...before, tags: ['b', 'c'] })).toEqual(['l#s#…#0000001', 'l#s#…#0000001']);
    expect(keysOf({ ...before, time: '2026-03-01T00:00:00.000000Z' }, before)).toEqual(['l#t#0000001']);
  });

  it('put values at the rows’ places, with null for what lies between', () => {
    const [, count, tag] = blockEdits(list, { before: undefined, after: row(6) }, {});
    expect(count?.apply(undefined)).toEqual(packIntegers([null, null, 7]));
    expect(count?.apply(packIntegers([1, null, null, 4]))).toEqual(packIntegers([1, null, 7, 4]));
    expect(tag?.apply(undefined)).toEqual(packPositions([2]));
    const [untag] = blockEdits(list, { before: row(6), after: row(6, { tags: [] }) }, {});
    expect(untag?.apply(packPositions([1, 2]))).toEqual(packPositions([1]));
    expect(untag?.apply(packPositions([2]))).toBeUndefined();
  });
});
