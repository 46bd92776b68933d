import { describe, expect, it } from 'vitest';
import {
  type ChangeItem,
  changedRowsOf,
  changeItems,
  changeToken,
  foldKey,
} from '../../../../functions/data/columns/changes.ts';
import { blockKey, packColumn, type Row, setPrefix } from '../../../../functions/data/columns/column-items.ts';
import { dictionariesKey, dictionaryEdits, storedHead } from '../../../../functions/data/columns/dictionaries.ts';
import { facetCode } from '../../../../functions/data/columns/facets.ts';
import { requireFormatLimits } from '../../../../functions/data/columns/format-limits.ts';
import { emptyHead, formatOf, formerFormatOf, headKey, nameTag } from '../../../../functions/data/columns/head.ts';
import type {
  Column,
  FacetColumn,
  ListDescription,
  PositionSets,
} from '../../../../functions/data/columns/list-description.ts';
import { batchList, jobList } from '../../../../functions/data/columns/lists.ts';
import { packPositions } from '../../../../functions/data/columns/position-set.ts';
import { timeIndexKey } from '../../../../functions/data/columns/time-index.ts';
import { itemBytes as itemSize } from '../../../bench/bench-rows.ts';
import { storedColumns } from '../../../support/load-list.ts';
import { withRowsPerBlock } from '../../../support/small-lists.ts';

const lists: readonly (readonly [string, ListDescription])[] = [
  ['batches', batchList],
  ['jobs', jobList],
];
const facetColumns = (list: ListDescription) =>
  Object.values(list.columns).filter((column): column is FacetColumn => column.kind === 'facets');

/** Why a golden value differs, and what to do about it: docs/reference/lists.md has more. */
const howTo = `
What is stored has changed, and earlier releases have written what was stored before.
- If you did not mean to change it, undo the change: stored rows would be read as something else.
- If you meant to, follow docs/reference/lists.md:
  - A further facet goes before the dictionaries. All codes and bytes may change, because the repair rewrites them. If its
    block is full, this file says which rowsPerBlock fits.
  - Take the new values here, and see that the fingerprint differs. Where no description changed, raise layoutVersion in
    functions/data/columns/head.ts.
  - Test the move in test/integration/stored-format.test.ts.
  - Say in CHANGELOG.md that "npm run repair -- --fix" follows the deployment.
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

const largestSet = (sets: PositionSets) => packPositions([0, sets.rowsPerBlock - 1]) as Uint8Array;

describe.each(lists)('the description of %s', (_, list) => {
  it('keeps the limits of its format', () => requireFormatLimits(list));

  it('gives every column and set a key of its own, because only the key says whose block it is', () => {
    const keys = [...Object.values(list.columns), ...Object.values(list.sets)].map(({ key }) => key);
    expect(keys).toEqual([...new Set(keys)]);
    for (const key of [...keys, list.key]) expect(key).toMatch(/^[A-Za-z]+$/);
    expect(keys).not.toContain('head');
    expect(keys).not.toContain(dictionariesKey);
    expect(keys).not.toContain(timeIndexKey);
  });

  it('has the columns that every plan reads rows by', () => {
    expect(list.columns).toMatchObject({ id: { kind: 'uuid', attribute: 'id' }, facets: { kind: 'facets' } });
  });

  it.each(Object.entries(list.sets))('lets a block of the sets of %s fit in one write unit', (_, sets) => {
    expect(itemBytes(blockKey(setPrefix(list, sets, 'any'), 0), largestSet(sets))).toBeLessThanOrEqual(writeUnit);
  });

  it('names each value of a facet once, because the place of a value is its code', () => {
    for (const facet of facetColumns(list).flatMap((column) => Object.values(column.facets))) {
      if (facet.kind !== 'values') continue;
      expect(facet.values).toEqual([...new Set(facet.values)]);
    }
  });

  const dictionaries = facetColumns(list)
    .flatMap((column) => Object.values(column.facets))
    .filter((facet) => facet.kind === 'dictionary');

  it('has one dictionary an attribute, because only the attribute says whose block it is', () => {
    const attributes = dictionaries.map(({ attribute }) => attribute);
    expect(attributes).toEqual([...new Set(attributes)]);
    for (const attribute of attributes) expect(attribute).toMatch(/^[a-z_]+$/);
  });

  it('lets a block of UUIDs fit in one write unit', () => {
    const texts = Array.from({ length: list.textsPerBlock }, () => '8f14e45f-ceea-467f-a0e6-1c2d3e4f5a6b');
    const [block] = dictionaryEdits(list, {}, { project_id: texts });
    expect(itemBytes(block!.key, block!.apply(undefined)!)).toBeLessThanOrEqual(writeUnit);
    expect(dictionaryEdits(list, {}, { project_id: texts.slice(1) })).toEqual([]);
  });

  it('keeps a head, and a block of texts, below 32 KB, and all blocks of texts within one answer of 1 MB', () => {
    // Up to 128 UTF-16 units of a device type, each 3 bytes in UTF-8 and 6 where JSON escapes it; a
    // UUID.
    const maxBytes: Record<string, readonly [inHead: number, inBlock: number]> = {
      device_type: [3 * 128 + 1, 6 * 128 + 3],
      project_id: [37, 39],
    };
    let [head, all] = [writeUnit, 0];
    for (const { attribute, capacity } of dictionaries) {
      expect(maxBytes, 'the bytes of its longest text').toHaveProperty(attribute);
      const [inHead, inBlock] = maxBytes[attribute]!;
      expect(list.textsPerBlock * inBlock).toBeLessThan(32 * 1_024);
      head += (list.textsPerBlock - 1) * inHead;
      all += Math.ceil(capacity / list.textsPerBlock) * (list.textsPerBlock * inBlock + 128);
    }
    expect(head).toBeLessThan(32 * 1_024);
    expect(all).toBeLessThan(1_024 * 1_024);
  });
});

it.each(lists)(
  'lets the head of %s with a full tail fit in one write unit, because every change of a new row rewrites it',
  (_, list) => {
    // 16 rows of one day, in one project, by a user whose name is known.
    const day = 24 * 3_600 * 1_000_000;
    const most = (column: Column) => ({ facets: 81_920, time: day, integer: 10_000, uuid: 0 })[column.kind];
    const value = (column: Column, at: number) =>
      column.kind === 'uuid' ? `00000000-0000-4000-8000-0000000000${10 + at}` : at === 0 ? 0 : most(column);
    const tail = Object.values(list.columns).map((column) => {
      const values = Array.from({ length: list.rowsInTail }, (__, at) => value(column, at));
      return [column.key, packColumn(column, values)] as const;
    });
    const texts = { project_id: ['8f14e45f-ceea-467f-a0e6-1c2d3e4f5a6b'], device_type: ['FRESNEL'] };
    const dictionaries = list === batchList ? texts : { project_id: texts.project_id };
    const item = {
      ...{ user_id: '8f14e45f-ceea-467f-a0e6-1c2d3e4f5a6b', key: headKey(list), ...emptyHead(list) },
      ...{ next_seq: 123_457, last_created_at: '2026-03-01T00:00:00.000001Z', dictionaries, n: nameTag('Ada') },
    };
    const bytesOfTail = tail.reduce((sum, [key, bytes]) => sum + 1 + key.length + bytes.length, 0);
    expect(itemSize(item) + bytesOfTail).toBeLessThanOrEqual(writeUnit);
  },
);

describe('requireFormatLimits', () => {
  const { facets, updated_at } = batchList.columns;
  const withColumn = (column: Column): ListDescription => ({ ...batchList, columns: { changed: column } });
  const withFacets = (changed: FacetColumn['facets']) => withColumn({ ...facets, facets: changed });
  const webhook = { kind: 'presence', attribute: 'webhook' } as const;
  const fullFacets = { ...facets, rowsPerBlock: 256 };
  const { device_type, project_id, ...fixed } = facets.facets;
  const values = Array.from({ length: 60 }, (_, at) => String(at));

  it.each<[string, ListDescription, RegExp]>([
    [
      'a further facet in a full block',
      withColumn({ ...fullFacets, facets: { ...fixed, webhook, device_type, project_id } }),
      /blocks of 10\d\d bytes.* Set its rowsPerBlock .*lists\.ts to 192, 144, 128 or less, a divisor of rowsPerSegment/,
    ],
    ['a block of too many times', withColumn({ ...updated_at, rowsPerBlock: 400 }), /to 144, 128, 96 or less/],
    [
      'blocks in two segments',
      withColumn({ ...updated_at, rowsPerBlock: 100 }),
      /two segments of 4608 .* to 96, 72, 64/,
    ],
    ['more blocks than a transaction seals', withColumn({ ...updated_at, rowsPerBlock: 36 }), /more than 99 blocks/],
    ['a fixed facet after a dictionary', withFacets({ ...facets.facets, webhook }), /fixed values before dictionaries/],
    [
      'more codes than are tabulated',
      withFacets({ ...fixed, more: { kind: 'values', attribute: 'more', values }, device_type }),
      /9830400 codes up to its first dictionary, at most 4194304/,
    ],
    [
      'codes that are not exact',
      withFacets({ device_type, project_id: { ...project_id, capacity: 2 ** 45 } }),
      /from 2\^53 on/,
    ],
  ])('refuses %s, and says what to do', (_, list, message) => {
    expect(() => requireFormatLimits(list)).toThrow(message);
  });

  it('takes a further facet before the dictionaries', () => {
    const changed = { ...facets, facets: { ...fixed, webhook, device_type, project_id } };
    expect(() => requireFormatLimits(withColumn(changed))).not.toThrow();
  });
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
    ['the number of rows in the tail', { ...batchList, rowsInTail: 8 }],
    ['the number of texts in a block', { ...batchList, textsPerBlock: 8 }],
    ['the number of rows in a segment', { ...batchList, rowsPerSegment: 18_432 }],
    ['the number of rows for each entry of the time index', { ...batchList, rowsPerTimeEntry: 64 }],
    [
      'a further column',
      { ...batchList, columns: { ...batchList.columns, more: { ...jobList.columns.runs, key: 'm' } } },
    ],
    ['a column less', { ...batchList, columns: otherColumns }],
    ['the key of a column', { ...batchList, columns: { ...batchList.columns, id: { ...id, key: 'x' } } }],
    ['the attribute of a column', { ...batchList, columns: { ...batchList.columns, id: { ...id, attribute: 'x' } } }],
    ['the kind of a column', { ...batchList, columns: { ...batchList.columns, id: { ...id, kind: 'time' } } }],
    ['a further facet', withFacets({ ...facets.facets, further: { kind: 'presence', attribute: 'x' } })],
    [
      'the member that a facet counts',
      withFacets({ ...facets.facets, has_errors: { ...facets.facets.has_errors, member: 'DONE' } }),
    ],
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
    jobs_count_per_status: { DONE: 1, ERROR: 0 },
    created_at: `2026-02-28T00:00:${String(seq).padStart(2, '0')}.000000Z`,
    updated_at: '2026-03-01T00:00:00.000000Z',
    start_datetime: null,
    end_datetime: null,
    seq,
    ...members,
  });
  const batches = [
    batch(0, { tags: ['mis', 'été ☀'], jobs_count: 3 }),
    batch(1, { status: 'RUNNING', device_type: 'FRESNEL', start_datetime: '2026-03-01T00:00:01.000000Z' }),
    batch(2, {
      status: 'PAUSED',
      open: false,
      queue_priority: 'FREE',
      tags: ['mis'],
      jobs_count: 100_000,
      jobs_count_per_status: { DONE: 0, ERROR: 2 },
    }),
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

  /**
   * What the head says, and all blocks in hexadecimal: the first two rows are in blocks, the others
   * in the tail.
   */
  const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

  function storedItems(list: ListDescription, rows: readonly Row[]): Record<string, unknown> {
    const hex = (bytes: Iterable<readonly [string, Uint8Array]>) =>
      Object.fromEntries(Array.from(bytes, ([key, block]) => [key, hexOf(block)]));
    const { head, blocks } = storedColumns({ ...list, rowsInTail: 2 }, rows);
    return {
      [headKey(list)]: { ...head, format: emptyHead(list).format, tail: hex(Object.entries(head.tail)) },
      ...hex(blocks),
    };
  }

  it('of batches is this', () => {
    expect(storedItems(batchList, batches), howTo).toEqual({
      'b#head': {
        format: '0jaUxyxg',
        next_seq: 4,
        last_created_at: '2026-02-28T00:00:03.000000Z',
        dictionaries: {
          device_type: ['EMU_MPS', 'FRESNEL'],
          project_id: ['cccccccc-0000-4000-8000-000000000000', 'cccccccc-0000-4000-8000-000000000001'],
        },
        tail: {
          e: '00021201064beb26e985a040',
          f: '0002101200000000000187000067f220',
          i: 'bbbbbbbb000040008000000000000002bbbbbbbb000040008000000000000003',
          n: '0002110700000000000000ca04',
          s: '000212010000000000000000',
          u: '00021025064beb26c36000000000000f8b313c9040',
        },
      },
      'b#e#0000000': '000212010000000000000000',
      'b#f#0000000': '00021012000000000000380000682d20',
      'b#i#0000000': 'bbbbbbbb000040008000000000000000bbbbbbbb000040008000000000000001',
      'b#n#0000000': '000210030000000000000084',
      'b#s#0000000': '00021201064beb26d2a24040',
      'b#t#1VGdPCmjsqKb56TZTvCnVH#0000000': '000005',
      'b#t#GSuMIsK5k93zehY9xiDy22#0000000': '000001',
      'b#u#0000000': '00021201064beb26c36000c0',
    });
  });

  it('of jobs is this', () => {
    expect(storedItems(jobList, jobs), howTo).toEqual({
      'j#head': {
        format: 'BGNS2xZZ',
        next_seq: 3,
        last_created_at: null,
        dictionaries: {
          project_id: ['cccccccc-0000-4000-8000-000000000000', 'cccccccc-0000-4000-8000-000000000001'],
        },
        tail: {
          b: 'bbbbbbbb000040008000000000000002',
          e: '00011201064beb26f126c180',
          f: '000112010000000000012080',
          i: 'aaaaaaaa000040008000000000000002',
          o: '000112010000000000000080',
          r: '000112010000000000006480',
          s: '000112010000000000000000',
          u: '00011201064beb26c3600080',
        },
      },
      'j#B#QCAFkYHgtzAl0JALVs2wQ4#0000000': '000004',
      'j#B#zh5xZpkjMA0d83Im37mKzI#0000000': '000003',
      'j#b#0000000': 'bbbbbbbb000040008000000000000000bbbbbbbb000040008000000000000000',
      'j#e#0000000': '000212010000000000000000',
      'j#f#0000000': '0002100600000000000017d410',
      'j#i#0000000': 'aaaaaaaa000040008000000000000000aaaaaaaa000040008000000000000001',
      'j#o#0000000': '000210020000000000000060',
      'j#r#0000000': '000210140000000000006400001f41dd',
      'j#s#0000000': '00021201064beb26d672d080',
      'j#u#0000000': '00021201064beb26c36000c0',
    });
  });

  it('of rows that are sealed is this', () => {
    const rows = [...batches, ...batches].map((row, seq) => ({ ...row, seq }));
    const list = withRowsPerBlock(batchList, 2);
    const { blocks } = storedColumns(list, rows, () => true);
    const expected = {
      'b#f#0000000': '00022012000000000000380000682d20',
      'b#f#0000001': '0002201200000000000187000067f220',
      // Of the next segment, which is not old.
      'b#f#0000002': '00021012000000000000380000682d20',
      'b#f#s#0000000': '0104003801cf0201a1fe0901e10401',
      'b#n#s#0000000': '010300000203019d8d0601',
      'b#s#s#0000000': '010103c0c4cab6b2fd920301',
      'b#u#s#0000000': '02010080c08db6b2fd9203c0e493e6e20304',
    };
    const keys = Object.keys(expected);
    expect(Object.fromEntries(keys.map((key) => [key, hexOf(blocks.get(key)!)])), howTo).toEqual(expected);
  });

  it('of more texts than a block holds is this', () => {
    const texts = Array.from({ length: 49 }, (_, number) => `${'"é ☀'[number % 4]}${number}`);
    const rows = texts.map((project_id, seq) => batch(seq, { project_id }));
    const { head, blocks } = storedColumns(batchList, rows);
    const { dictionaries, dictionary_blocks } = storedHead(batchList, head);
    const blocksOfTexts = Array.from(blocks).filter(([key]) => key.includes('#texts#'));
    expect([dictionaries, dictionary_blocks], howTo).toEqual([
      { device_type: ['EMU_MPS'], project_id: ['"48'] },
      { project_id: 2 },
    ]);
    expect(
      Object.fromEntries(blocksOfTexts.map(([key, bytes]) => [key, Buffer.from(bytes).toString()])),
      howTo,
    ).toEqual({
      'b#texts#project_id#0000000': JSON.stringify(texts.slice(0, 24)),
      'b#texts#project_id#0000001': JSON.stringify(texts.slice(24, 48)),
    });
    const [first] = blocksOfTexts;
    const hex = Buffer.from(first![1]).toString('hex');
    expect(hex.slice(0, 46), howTo).toBe('5b225c2230222c22c3a931222c222032222c22e2988033');
  });

  it('of changes is this, and heads of the release before are read as well', () => {
    const dictionaries = {
      device_type: ['EMU_MPS', 'FRESNEL'],
      project_id: ['cccccccc-0000-4000-8000-000000000000', 'cccccccc-0000-4000-8000-000000000001'],
    };
    const items = [
      ...changeItems(batchList, [batches[3]!], dictionaries),
      ...changeItems(jobList, [...jobs.slice(0, 2), { ...jobs[1]!, seq: 77, creation_order: 16 }], dictionaries),
    ];
    const readable = (item: ChangeItem) =>
      Object.fromEntries(
        Object.entries(item).map(([name, value]) => [name, typeof value === 'string' ? value : hexOf(value)]),
      );
    expect(Object.fromEntries(items.map(([key, item]) => [key, readable(item)])), howTo).toEqual({
      'b#hc#0000003': { format: '0jaUxyxg', r3: 'a18ba6b7b2fd9203a9810a0100c1a4a19c95819303' },
      'j#hc#bbbbbbbb-0000-4000-8000-000000000000#0000000': {
        format: 'BGNS2xZZ',
        r0: '004c0165d1e5d9b6b2fd920381c08db6b2fd9203',
        r1: '001802c1843d0081c08db6b2fd9203',
      },
      'j#hc#bbbbbbbb-0000-4000-8000-000000000000#0000001': {
        format: 'BGNS2xZZ',
        r77: '001811c1843d0081c08db6b2fd9203',
      },
    });
    for (const [key, item] of items) {
      const changed = changedRowsOf(key.startsWith('b') ? batchList : jobList, { key, t: changeToken(), ...item });
      expect(['format', ...Array.from(changed.keys(), (seq) => `r${seq}`)]).toEqual(Object.keys(item));
    }
    expect([foldKey(batchList), foldKey(jobList)]).toEqual(['b#hc', 'j#hc']);
    expect([formerFormatOf(batchList), formerFormatOf(jobList)], howTo).toEqual(['Cho_NqtB', '60iHMRsI']);
  });

  it.each(lists)('lets a full item of changes of %s fit in one write unit', (_, list) => {
    const time = '2286-11-20T17:46:39.999999Z';
    const row: Row = {
      ...(list === batchList ? batches[3]! : jobs[0]!),
      ...{ runs: 1_000_000, jobs_count: 1_000_000, updated_at: time },
      ...{ start_datetime: time, end_datetime: time, start_timestamp: time, end_timestamp: time },
    };
    const rows = Array.from({ length: 16 }, (__, at) => ({
      ...row,
      seq: 1_000_000 + at,
      creation_order: 1_600_000 + at,
    }));
    const texts = Array.from({ length: 4_096 }, (__, at) => String(at));
    const projects = { project_id: [...texts.slice(1), String(row.project_id)], device_type: ['EMU_MPS'] };
    const [[key, changed]] = changeItems(list, list === batchList ? [rows[0]!] : rows, projects) as never as [
      [string, object],
    ];
    expect(Object.keys(changed)).toHaveLength(list === batchList ? 2 : 17);
    const user_id = '8f14e45f-ceea-467f-a0e6-1c2d3e4f5a6b';
    expect(itemSize({ user_id, key, t: changeToken(), ...changed })).toBeLessThanOrEqual(writeUnit);
  });

  it('of times of creation is this', () => {
    const { blocks } = storedColumns(
      batchList,
      Array.from({ length: 49 }, (_, seq) => batch(seq)),
    );
    const times = Array.from(blocks).filter(([key]) => key.includes('#times#'));
    const expected = [['b#times#2026-02-28T00:00:32.000000Z', Buffer.from('32').toString('hex')]];
    expect(
      times.map(([key, bytes]) => [key, hexOf(bytes)]),
      howTo,
    ).toEqual(expected);
  });

  /** The code of each known value where all other facets have their first. */
  function storedCodes(list: ListDescription): Record<string, Record<string, number>> {
    const [column] = facetColumns(list);
    const facets = Object.values(column!.facets);
    const texts = (name: string) => Array.from({ length: 3 }, (_, at) => `${name} ${at}`);
    const dictionaries = Object.fromEntries(facets.map(({ attribute }) => [attribute, texts(attribute)]));
    const valuesOf = (facet: (typeof facets)[number]) =>
      facet.kind === 'values'
        ? facet.values
        : facet.kind === 'presence'
          ? [null, 'present']
          : facet.kind === 'counted'
            ? [{ [facet.member]: 0 }, { [facet.member]: 3 }]
            : texts(facet.attribute);
    const first = Object.fromEntries(facets.map((facet) => [facet.attribute, valuesOf(facet)[0]]));
    return Object.fromEntries(
      facets.map((facet) => [
        facet.attribute,
        Object.fromEntries(
          valuesOf(facet).map((value) => [
            typeof value === 'object' ? JSON.stringify(value) : String(value),
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
      start_datetime: { null: 0, present: 80 },
      end_datetime: { null: 0, present: 160 },
      jobs_count_per_status: { '{"ERROR":0}': 0, '{"ERROR":3}': 320 },
      device_type: { 'device_type 0': 0, 'device_type 1': 640, 'device_type 2': 1280 },
      project_id: { 'project_id 0': 0, 'project_id 1': 163_840, 'project_id 2': 327_680 },
    });
  });

  it('for the facets of jobs are these codes and no others', () => {
    expect(storedCodes(jobList), howTo).toEqual({
      status: { PENDING: 0, RUNNING: 1, DONE: 2, ERROR: 3, CANCELED: 4, CANCELING: 5 },
      origin: { CLIENT: 0, AZURE: 6, OVH: 12, UNKNOWN: 18 },
      errors: { null: 0, present: 24 },
      start_timestamp: { null: 0, present: 48 },
      end_timestamp: { null: 0, present: 96 },
      project_id: { 'project_id 0': 0, 'project_id 1': 192, 'project_id 2': 384 },
    });
  });
});
