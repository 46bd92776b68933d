import { describe, expect, it } from 'vitest';
import {
  blockEdits,
  blockKey,
  columnPrefix,
  type Row,
  setPrefix,
} from '../../../../functions/data/columns/column-items.ts';
import { type Dictionaries, facetCode, facetSize, withTextsOf } from '../../../../functions/data/columns/facets.ts';
import { emptyHead, formatOf, headKey } from '../../../../functions/data/columns/head.ts';
import {
  type Column,
  type FacetColumn,
  type ListDescription,
  type PositionSets,
  withRowsPerBlock,
} from '../../../../functions/data/columns/list-description.ts';
import { batchList, jobList } from '../../../../functions/data/columns/lists.ts';
import { packIntegers } from '../../../../functions/data/columns/packed-integers.ts';
import { packPositions } from '../../../../functions/data/columns/position-set.ts';

const lists: readonly (readonly [string, ListDescription])[] = [
  ['batches', batchList],
  ['jobs', jobList],
];
const facetColumns = (list: ListDescription) =>
  Object.values(list.columns).filter((column): column is FacetColumn => column.kind === 'facets');

/** Why a golden value differs, and what to do about it: CONTRIBUTING.md, "The stored format". */
const howTo = `
What is stored has changed, and earlier releases have written what was stored before.
- If you did not mean to change it, undo the change: stored rows would be read as something else.
- If you meant to, follow "The stored format" in CONTRIBUTING.md: take the new values here, see that the fingerprint differs
  (raise layoutVersion in functions/data/columns/head.ts where no description changed), test the move in
  test/integration/stored-format.test.ts, and say in CHANGELOG.md that "npm run repair -- --fix" follows the deployment.
`;

/** A write unit is 1,024 bytes of names and values. */
const writeUnit = 1_024;
const itemBytes = (key: string, block: Uint8Array) =>
  'user_id'.length +
  '8f14e45f-ceea-467f-a0e6-1c2d3e4f5a6b'.length +
  'key'.length +
  key.length +
  'v'.length +
  block.length;

/**
 * Values that take a block's most bytes: every facet code there may be, times of 35 years, counts
 * up to 268 million.
 */
const widest = (column: Exclude<Column, { kind: 'uuid' }>) => {
  if (column.kind === 'facets')
    return Object.values(column.facets).reduce((size, facet) => size * facetSize(facet), 1) - 1;
  return column.kind === 'time' ? 2 ** 50 - 1 : 2 ** 28 - 1;
};
const largestBlock = (column: Column): Uint8Array =>
  column.kind === 'uuid'
    ? new Uint8Array(16 * column.rowsPerBlock)
    : packIntegers(Array.from({ length: column.rowsPerBlock }, (_, at) => (at === 0 ? 0 : widest(column))));
const largestSet = (sets: PositionSets) => packPositions([0, sets.rowsPerBlock - 1]) as Uint8Array;

describe.each(lists)('the description of %s', (_, list) => {
  it('gives every column and set a key of its own, because the key alone tells their blocks apart', () => {
    const keys = [...Object.values(list.columns), ...Object.values(list.sets)].map(({ key }) => key);
    expect(keys).toEqual([...new Set(keys)]);
    for (const key of [...keys, list.key]) expect(key).toMatch(/^[A-Za-z]+$/);
    expect(keys).not.toContain('head');
  });

  it('has the columns that every plan reads rows by', () => {
    expect(list.columns).toMatchObject({ id: { kind: 'uuid', attribute: 'id' }, facets: { kind: 'facets' } });
  });

  it.each(Object.entries(list.columns))(
    'lets a block of %s fit in one write unit, because every change rewrites it',
    (_, column) => {
      expect(itemBytes(blockKey(columnPrefix(list, column), 0), largestBlock(column))).toBeLessThanOrEqual(writeUnit);
    },
  );

  it.each(Object.entries(list.sets))('lets a block of the sets of %s fit in one write unit', (_, sets) => {
    expect(itemBytes(blockKey(setPrefix(list, sets, 'any'), 0), largestSet(sets))).toBeLessThanOrEqual(writeUnit);
  });

  it('keeps facet codes below 2^53, because larger numbers are not exact', () => {
    for (const column of facetColumns(list)) expect(widest(column) + 1).toBeLessThan(2 ** 53);
  });

  it('names each value of a facet once, because the place of a value is its code', () => {
    for (const facet of facetColumns(list).flatMap((column) => Object.values(column.facets))) {
      if (facet.kind !== 'values') continue;
      expect(facet.values).toEqual([...new Set(facet.values)]);
    }
  });

  it('keeps the texts of all dictionaries within one item of 400 KB, because the head holds them', () => {
    // In UTF-8: up to 128 UTF-16 units of a device type, a UUID.
    const mostBytes: Record<string, number> = { device_type: 3 * 128, project_id: 36 };
    const attributes = new Set<string>();
    let bytes = 1_024;
    for (const facet of facetColumns(list).flatMap((column) => Object.values(column.facets))) {
      if (facet.kind !== 'dictionary') continue;
      expect(attributes, 'one dictionary an attribute').not.toContain(facet.attribute);
      attributes.add(facet.attribute);
      bytes += facet.capacity * (1 + (mostBytes[facet.attribute] ?? Number.NaN));
    }
    expect(bytes).toBeLessThan(400 * 1_024);
  });
});

it('lets no block of 400 times pass for one that fits in a write unit', () => {
  const column = { ...batchList.columns.updated_at, rowsPerBlock: 400 };
  expect(itemBytes(blockKey(columnPrefix(batchList, column), 0), largestBlock(column))).toBeGreaterThan(writeUnit);
});

it('gives every list a key of its own', () => {
  expect(batchList.key).not.toBe(jobList.key);
});

describe('the fingerprint of a description', () => {
  const { facets } = batchList.columns;
  const withFacets = (changed: FacetColumn['facets']): ListDescription => ({
    ...batchList,
    columns: { ...batchList.columns, facets: { ...facets, facets: changed } },
  });
  const { status, open, ...otherFacets } = facets.facets;
  const { id, ...otherColumns } = batchList.columns;

  it.each<[string, ListDescription]>([
    ['the key of the list', { ...batchList, key: 'x' }],
    ['the number of rows in a block', withRowsPerBlock(batchList, 16)],
    [
      'a further column',
      { ...batchList, columns: { ...batchList.columns, more: { ...jobList.columns.runs, key: 'm' } } },
    ],
    ['a column less', { ...batchList, columns: otherColumns }],
    ['the key of a column', { ...batchList, columns: { ...batchList.columns, id: { ...id, key: 'x' } } }],
    ['the attribute of a column', { ...batchList, columns: { ...batchList.columns, id: { ...id, attribute: 'x' } } }],
    ['the kind of a column', { ...batchList, columns: { ...batchList.columns, id: { ...id, kind: 'time' } } }],
    ['a further facet', withFacets({ ...facets.facets, further: { kind: 'presence', attribute: 'x' } })],
    ['the order of facets', withFacets({ open, status, ...otherFacets })],
    ['a further value', withFacets({ ...facets.facets, status: { ...status, values: [...status.values, 'LOST'] } })],
    [
      'the order of values',
      withFacets({ ...facets.facets, status: { ...status, values: status.values.toReversed() } }),
    ],
    ['what rows without an attribute stand for', { ...batchList, rowDefaults: { status: 'PENDING' } }],
    [
      'the capacity of a dictionary',
      withFacets({ ...facets.facets, project_id: { ...facets.facets.project_id, capacity: 5 } }),
    ],
    ['a set less', { ...batchList, sets: {} }],
    ['the attribute of a set', { ...batchList, sets: { tag: { ...batchList.sets.tag, attribute: 'x' } } }],
  ])('differs with %s', (_, changed) => {
    expect(formatOf(changed)).not.toBe(formatOf(batchList));
  });

  it('does not depend on the names of columns, facets and sets, nor on the order of columns', () => {
    const renamed: ListDescription = {
      ...batchList,
      columns: {
        ...otherColumns,
        facets: { ...facets, facets: { state: status, isOpen: open, ...otherFacets } },
        identity: id,
      },
      sets: { label: batchList.sets.tag },
    };
    expect(formatOf(renamed)).toBe(formatOf(batchList));
  });
});

describe('what is stored', () => {
  const uuid = (family: string, number: number) => `${family.repeat(8)}-0000-4000-8000-00000000000${number}`;
  const batch = (seq: number, members: object = {}): Row => ({
    id: uuid('b', seq),
    project_id: uuid('c', seq % 2),
    status: 'PENDING',
    open: true,
    device_type: 'EMU_MPS',
    queue_priority: 'LOW',
    tags: [],
    jobs_count: 0,
    updated_at: '2026-03-01T00:00:00.000000Z',
    start_datetime: null,
    end_datetime: null,
    seq,
    ...members,
  });
  const batches = [
    batch(0, { tags: ['mis', 'été ☀'], jobs_count: 3 }),
    batch(1, { status: 'RUNNING', device_type: 'FRESNEL', start_datetime: '2026-03-01T00:00:01.000000Z' }),
    batch(2, { status: 'PAUSED', open: false, queue_priority: 'FREE', tags: ['mis'], jobs_count: 100_000 }),
    batch(3, {
      updated_at: '2026-03-02T12:00:00.123456Z',
      queue_priority: 'CRITICAL',
      end_datetime: '2026-03-01T00:00:02.500000Z',
    }),
  ];
  const job = (seq: number, members: object = {}): Row => ({
    id: uuid('a', seq),
    batch_id: uuid('b', 0),
    project_id: uuid('c', 0),
    status: 'PENDING',
    runs: 100,
    origin: 'CLIENT',
    creation_order: seq,
    updated_at: '2026-03-01T00:00:00.000000Z',
    start_timestamp: null,
    end_timestamp: null,
    errors: null,
    seq,
    ...members,
  });
  const jobs = [
    job(0, { status: 'ERROR', errors: ['timeout'], start_timestamp: '2026-03-01T00:00:01.250000Z' }),
    job(1, { status: 'CANCELING', origin: 'UNKNOWN', runs: 1_000_000, errors: [] }),
    job(2, {
      batch_id: uuid('b', 2),
      project_id: uuid('c', 1),
      creation_order: 0,
      end_timestamp: '2026-03-01T00:00:03.000001Z',
    }),
  ];

  /** What the head says, and all blocks in hexadecimal, after the rows were created one by one. */
  function storedItems(list: ListDescription, rows: readonly Row[]): Record<string, unknown> {
    const blocks = new Map<string, Uint8Array>();
    let dictionaries: Dictionaries = {};
    for (const row of rows) {
      dictionaries = withTextsOf(Object.values(list.columns), row, dictionaries);
      for (const { key, apply } of blockEdits(list, { before: undefined, after: row }, dictionaries)) {
        blocks.set(key, apply(blocks.get(key)) as Uint8Array);
      }
    }
    return {
      [headKey(list)]: { format: emptyHead(list).format, dictionaries },
      ...Object.fromEntries(Array.from(blocks, ([key, block]) => [key, Buffer.from(block).toString('hex')])),
    };
  }

  it('of batches is this', () => {
    expect(storedItems(batchList, batches), howTo).toEqual({
      'b#head': {
        format: 'XbrOGK6-',
        dictionaries: {
          device_type: ['EMU_MPS', 'FRESNEL'],
          project_id: ['cccccccc-0000-4000-8000-000000000000', 'cccccccc-0000-4000-8000-000000000001'],
        },
      },
      'b#e#0000000': '00041201064beb26e985a010',
      'b#f#0000000': '0004100f00000000000038000341480084fd10',
      'b#i#0000000':
        'bbbbbbbb000040008000000000000000bbbbbbbb000040008000000000000001bbbbbbbb000040008000000000000002bbbbbbbb000040008000000000000003',
      'b#n#0000000': '00041011000000000000000002000070d4200010',
      'b#s#0000000': '00021201064beb26d2a24040',
      'b#t#1VGdPCmjsqKb56TZTvCnVH#0000000': '000005',
      'b#t#GSuMIsK5k93zehY9xiDy22#0000000': '000001',
      'b#u#0000000': '00041025064beb26c360000000000008000000004000000003e2cc4f2410',
    });
  });

  it('of jobs is this', () => {
    expect(storedItems(jobList, jobs), howTo).toEqual({
      'j#head': {
        format: '_zHDhNxg',
        dictionaries: {
          project_id: ['cccccccc-0000-4000-8000-000000000000', 'cccccccc-0000-4000-8000-000000000001'],
        },
      },
      'j#B#QCAFkYHgtzAl0JALVs2wQ4#0000000': '000004',
      'j#B#zh5xZpkjMA0d83Im37mKzI#0000000': '000003',
      'j#b#0000000': 'bbbbbbbb000040008000000000000000bbbbbbbb000040008000000000000000bbbbbbbb000040008000000000000002',
      'j#e#0000000': '00031201064beb26f126c120',
      'j#f#0000000': '00031005000000000000172874',
      'j#i#0000000': 'aaaaaaaa000040008000000000000000aaaaaaaa000040008000000000000001aaaaaaaa000040008000000000000002',
      'j#o#0000000': '000310020000000000000064',
      'j#r#0000000': '000310140000000000006400001f41dd000010',
      'j#s#0000000': '00011201064beb26d672d080',
      'j#u#0000000': '00031201064beb26c36000e0',
    });
  });

  /** The code of each known value where all other facets have their first. */
  function storedCodes(list: ListDescription): Record<string, Record<string, number>> {
    const [column] = facetColumns(list);
    const facets = Object.values(column!.facets);
    const texts = (name: string) => Array.from({ length: 3 }, (_, at) => `${name} ${at}`);
    const dictionaries = Object.fromEntries(facets.map(({ attribute }) => [attribute, texts(attribute)]));
    const valuesOf = (facet: (typeof facets)[number]) =>
      facet.kind === 'values' ? facet.values : facet.kind === 'presence' ? [null, 'present'] : texts(facet.attribute);
    const first = Object.fromEntries(facets.map((facet) => [facet.attribute, valuesOf(facet)[0]]));
    return Object.fromEntries(
      facets.map((facet) => [
        facet.attribute,
        Object.fromEntries(
          valuesOf(facet).map((value) => [
            String(value),
            facetCode(column!, { ...first, [facet.attribute]: value }, dictionaries),
          ]),
        ),
      ]),
    );
  }

  it('for the facets of batches are these codes and no others', () => {
    expect(storedCodes(batchList), howTo).toEqual({
      status: { PENDING: 0, RUNNING: 1, DONE: 2, CANCELED: 3, CANCELING: 4, TIMED_OUT: 5, ERROR: 6, PAUSED: 7 },
      open: { false: 0, true: 8 },
      queue_priority: { CRITICAL: 0, HIGH: 16, MEDIUM: 32, LOW: 48, FREE: 64 },
      device_type: { 'device_type 0': 0, 'device_type 1': 80, 'device_type 2': 160 },
      project_id: { 'project_id 0': 0, 'project_id 1': 20_480, 'project_id 2': 40_960 },
    });
  });

  it('for the facets of jobs are these codes and no others', () => {
    expect(storedCodes(jobList), howTo).toEqual({
      status: { PENDING: 0, RUNNING: 1, DONE: 2, ERROR: 3, CANCELED: 4, CANCELING: 5 },
      origin: { CLIENT: 0, AZURE: 6, OVH: 12, UNKNOWN: 18 },
      errors: { null: 0, present: 24 },
      project_id: { 'project_id 0': 0, 'project_id 1': 48, 'project_id 2': 96 },
    });
  });
});
