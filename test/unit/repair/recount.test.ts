import { describe, expect, it } from 'vitest';
import type { Row } from '../../../functions/data/columns/column-items.ts';
import { storedHead } from '../../../functions/data/columns/dictionaries.ts';
import { emptyHead, headKey } from '../../../functions/data/columns/head.ts';
import type { ListDescription } from '../../../functions/data/columns/list-description.ts';
import { ownerLists } from '../../../functions/data/columns/lists.ts';
import type { Item } from '../../../functions/data/dynamodb/reads.ts';
import { type Difference, recount } from '../../../infra/repair/recount.ts';
import type { Snapshot } from '../../../infra/repair/snapshot.ts';
import { storedColumns } from '../../support/load-list.ts';
import { uuid } from '../../support/new-batch.ts';

const lists = ownerLists(2);
const time = (second: number) => `2026-03-01T00:00:${String(second).padStart(2, '0')}.000000Z`;

const batch = (seq: number, members: Item = {}): Item => ({
  id: uuid('b', 9 - seq),
  project_id: uuid('c', seq % 2),
  status: 'PENDING',
  open: true,
  device_type: seq === 2 ? 'FRESNEL' : 'EMU_MPS',
  queue_priority: 'LOW',
  tags: seq === 1 ? ['mis', 'maxcut'] : [],
  jobs_count: 0,
  jobs_count_per_status: { PENDING: 0, RUNNING: 0, DONE: 0, ERROR: 0, CANCELED: 0, CANCELING: 0 },
  created_at: time(seq),
  updated_at: time(seq),
  start_datetime: seq === 0 ? time(30) : null,
  end_datetime: null,
  seq,
  rev: 0,
  written_at: {},
  ...members,
});

const job = (seq: number, batchSeq: number, creation_order: number, members: Item = {}): Item => ({
  id: uuid('a', 9 - seq),
  batch_id: uuid('b', 9 - batchSeq),
  project_id: uuid('c', 0),
  status: 'PENDING',
  runs: 100,
  origin: 'CLIENT',
  creation_order,
  created_at: time(seq),
  updated_at: time(seq),
  start_timestamp: null,
  end_timestamp: null,
  errors: null,
  seq,
  rev: 0,
  written_at: {},
  ...members,
});

const counts = (members: Item) => ({
  PENDING: 0,
  RUNNING: 0,
  DONE: 0,
  ERROR: 0,
  CANCELED: 0,
  CANCELING: 0,
  ...members,
});
const batches = [
  batch(0, {
    jobs_count: 2,
    jobs_count_per_status: counts({ PENDING: 1, DONE: 1 }),
    rev: 3,
    written_at: { status: 5 },
  }),
  batch(1),
  batch(2, { jobs_count: 1, jobs_count_per_status: counts({ ERROR: 1 }) }),
];
const jobs = [
  job(0, 0, 0, { status: 'DONE' }),
  job(1, 2, 0, { status: 'ERROR', errors: ['timeout'] }),
  job(2, 0, 1, { runs: null }),
];

function columnItems(list: ListDescription, rows: readonly Item[]): Item[] {
  const { head, blocks } = storedColumns(list, rows as Row[]);
  const items = [{ key: headKey(list), ...storedHead(list, head) }, ...Array.from(blocks, ([key, v]) => ({ key, v }))];
  return rows.length > 0 ? items : [];
}

const found = (rows: readonly Item[]) => rows.map((row) => ({ row, fault: undefined }));
const snapshot = (of: { batches?: readonly Item[]; jobs?: readonly Item[] } = {}): Snapshot => ({
  columns: [...columnItems(lists.batch, batches), ...columnItems(lists.job, jobs)],
  batches: found(of.batches ?? batches),
  jobs: found(of.jobs ?? jobs),
});

/** The sound snapshot with one of its items as it is after `change`; undefined removes it. */
function withColumn(key: string, change: (item: Item) => Item | undefined): Snapshot {
  const sound = snapshot();
  const columns = sound.columns.flatMap((item) => (item.key === key ? (change(item) ?? []) : item));
  return { ...sound, columns };
}
const withBatch = (seq: number, members: Item) =>
  snapshot({ batches: batches.map((row) => (row.seq === seq ? { ...row, ...members } : row)) });
const withJob = (seq: number, members: Item) =>
  snapshot({ jobs: jobs.map((row) => (row.seq === seq ? { ...row, ...members } : row)) });
const without = (item: Item, name: string) =>
  Object.fromEntries(Object.entries(item).filter(([each]) => each !== name));
const itemOf = (key: string) => snapshot().columns.find((item) => item.key === key) as Item;
/** As JSON in UTF-8. */
const textBlock = (...texts: string[]) => new Uint8Array(Buffer.from(JSON.stringify(texts)));
const headOf = (list: ListDescription) => without(itemOf(headKey(list)), 'key');

describe('recount', () => {
  it('finds nothing where all is as the rows say, in whatever order they are read', () => {
    const sound = snapshot();
    expect(recount(lists, sound)).toEqual([]);
    const reversed = {
      columns: sound.columns.toReversed(),
      batches: sound.batches.toReversed(),
      jobs: sound.jobs.toReversed(),
    };
    expect(recount(lists, reversed)).toEqual([]);
  });

  it('finds nothing of an owner who has nothing, or batches alone', () => {
    expect(recount(lists, { columns: [], batches: [], jobs: [] })).toEqual([]);
    const alone = [batch(0), batch(1)];
    expect(recount(lists, { columns: columnItems(lists.batch, alone), batches: found(alone), jobs: [] })).toEqual([]);
  });

  it('takes rows of one time in the order of their numbers, then of their ids', () => {
    const sameTime: Item[] = batches.map((row) => ({ ...row, created_at: time(2) }));
    expect(recount(lists, snapshot({ batches: sameTime }))).toEqual([]);
    const numberless = sameTime.map((row) => (row.seq === 0 ? row : { ...row, seq: undefined }));
    const differences = recount(lists, snapshot({ batches: numberless })).filter(({ kind }) => kind === 'row');
    expect(differences).toMatchObject([
      { key: uuid('b', 7), expected: { seq: 1 } },
      { key: uuid('b', 8), expected: { seq: 2 } },
    ]);
  });

  it.each<[string, Snapshot, Partial<Difference>[]]>([
    [
      'a wrong count of jobs',
      withBatch(0, { jobs_count: 5 }),
      [
        {
          kind: 'row',
          table: 'Batches',
          key: uuid('b', 9),
          found: { jobs_count: 5 },
          expected: { jobs_count: 2 },
          rev: 3,
        },
      ],
    ],
    [
      'lost counts per status',
      withBatch(2, { jobs_count_per_status: undefined }),
      [{ kind: 'row', key: uuid('b', 7), expected: { jobs_count_per_status: counts({ ERROR: 1 }) } }],
    ],
    [
      'a version that is a text',
      withJob(1, { rev: 'x' }),
      [{ kind: 'row', table: 'Jobs', key: uuid('a', 8), expected: { rev: 0 }, rev: 'x' }],
    ],
    ['a version that is negative', withJob(1, { rev: -1 }), [{ kind: 'row', key: uuid('a', 8), expected: { rev: 0 } }]],
    [
      'a version that is no whole number',
      withJob(1, { rev: 0.5 }),
      [{ kind: 'row', key: uuid('a', 8), expected: { rev: 0 } }],
    ],
    [
      'a lost version',
      withJob(1, { rev: undefined }),
      [{ kind: 'row', key: uuid('a', 8), expected: { rev: 0 }, rev: undefined }],
    ],
    [
      'times of writing of which one is a text',
      withBatch(0, { written_at: { status: 5, open: 'x' } }),
      [{ kind: 'row', key: uuid('b', 9), expected: { written_at: { status: 5 } } }],
    ],
    [
      'times of writing that are null',
      withBatch(1, { written_at: null }),
      [{ kind: 'row', key: uuid('b', 8), expected: { written_at: {} } }],
    ],
    [
      'a lost place in the batch',
      withJob(2, { creation_order: undefined }),
      [{ kind: 'row', key: uuid('a', 7), expected: { creation_order: 1 } }],
    ],
    ['a lost number', withJob(1, { seq: undefined }), [{ kind: 'row', key: uuid('a', 8), expected: { seq: 1 } }]],
    [
      'a negative number',
      withBatch(2, { seq: -1 }),
      [{ kind: 'row', key: uuid('b', 7), found: { seq: -1 }, expected: { seq: 2 } }],
    ],
    [
      'a lost block',
      withColumn('b#f#0000000', () => undefined),
      [{ kind: 'block', key: 'b#f#0000000', found: undefined }],
    ],
    [
      'a lost tail',
      withColumn('b#head', (item) => without(item, 'tail')),
      [{ kind: 'head', key: 'b#head', expected: headOf(lists.batch) as never }],
    ],
    [
      'a tail of other bytes',
      withColumn('j#head', (item) => ({ ...item, tail: { ...item.tail, r: Uint8Array.of(1) } })),
      [{ kind: 'head', key: 'j#head', expected: headOf(lists.job) as never }],
    ],
    [
      'a tail with a column more',
      withColumn('j#head', (item) => ({ ...item, tail: { ...item.tail, z: Uint8Array.of(1) } })),
      [{ kind: 'head', key: 'j#head', expected: headOf(lists.job) as never }],
    ],
    [
      'a block of other bytes',
      withColumn('j#r#0000000', (item) => ({ ...item, v: Uint8Array.of(1) })),
      [{ kind: 'block', key: 'j#r#0000000', expected: itemOf('j#r#0000000').v }],
    ],
    [
      'a block that is a text',
      withColumn('b#u#0000000', (item) => ({ ...item, v: 'text' })),
      [
        {
          kind: 'block',
          key: 'b#u#0000000',
          found: { key: 'b#u#0000000', v: 'text' },
          expected: itemOf('b#u#0000000').v,
        },
      ],
    ],
    [
      'a block without bytes',
      withColumn('b#i#0000000', (item) => without(item, 'v')),
      [{ kind: 'block', key: 'b#i#0000000', found: { key: 'b#i#0000000' } }],
    ],
    [
      'blocks beyond the last and of other columns, but not the items of others',
      {
        ...snapshot(),
        columns: [
          ...snapshot().columns,
          ...['b#n#0000009', 'j#z#0000000', 'event#b#1', 'c#n#0000000'].map((key) => ({ key, v: Uint8Array.of(1) })),
        ],
      },
      [
        { kind: 'block', key: 'b#n#0000009', expected: undefined },
        { kind: 'block', key: 'j#z#0000000', expected: undefined },
      ],
    ],
    [
      'a lost head',
      withColumn('b#head', () => undefined),
      [{ kind: 'head', key: 'b#head', found: undefined, expected: headOf(lists.batch) as never }],
    ],
    [
      'a head that counts too few',
      withColumn('j#head', (item) => ({ ...item, next_seq: 1 })),
      [{ kind: 'head', key: 'j#head', expected: headOf(lists.job) as never }],
    ],
    [
      'a head of another time',
      withColumn('j#head', (item) => ({ ...item, last_created_at: time(50) })),
      [{ kind: 'head', key: 'j#head', expected: headOf(lists.job) as never }],
    ],
    [
      'a head of another format',
      withColumn('j#head', (item) => ({ ...item, format: 'older' })),
      [{ kind: 'head', key: 'j#head', expected: headOf(lists.job) as never }],
    ],
    [
      'a head that breaks its schema',
      withColumn('j#head', (item) => ({ ...item, next_seq: 'x' })),
      [{ kind: 'head', key: 'j#head', expected: headOf(lists.job) as never }],
    ],
    [
      'the head of an owner without rows',
      { columns: [{ key: 'b#head', ...emptyHead(lists.batch), next_seq: 1 }], batches: [], jobs: [] },
      [{ kind: 'head', key: 'b#head', expected: emptyHead(lists.batch) }],
    ],
    [
      'a dictionary that the list does not have',
      withColumn('j#head', (item) => ({ ...item, dictionaries: { ...item.dictionaries, other: ['x'] } })),
      [{ kind: 'head', key: 'j#head', expected: headOf(lists.job) as never }],
    ],
    [
      'a dictionary with a text twice',
      withColumn('j#head', (item) => ({ ...item, dictionaries: { project_id: [uuid('c', 0), uuid('c', 0)] } })),
      [{ kind: 'head', key: 'j#head', expected: headOf(lists.job) as never }],
    ],
    [
      'a head with a text that is in a block too',
      withColumn('b#head', (item) => ({ ...item, dictionaries: { project_id: [uuid('c', 0)], device_type: [] } })),
      [{ kind: 'head', key: 'b#head', expected: headOf(lists.batch) as never }],
    ],
    [
      'a head that knows no blocks of texts',
      withColumn('b#head', (item) => without(item, 'dictionary_blocks')),
      [{ kind: 'head', key: 'b#head', expected: headOf(lists.batch) as never }],
    ],
    [
      'blocks of texts that the head does not have',
      {
        ...snapshot(),
        columns: [
          ...snapshot().columns,
          { key: 'b#texts#project_id#0000001', v: textBlock('x', 'y') },
          { key: 'b#texts#other#0000000', v: textBlock('x', 'y') },
        ],
      },
      [
        { kind: 'block', key: 'b#texts#project_id#0000001', expected: undefined },
        { kind: 'block', key: 'b#texts#other#0000000', expected: undefined },
      ],
    ],
    [
      'a dictionary beyond its capacity',
      withColumn('j#head', (item) => ({
        ...item,
        dictionaries: { project_id: Array.from({ length: 4_097 }, (_, number) => `${number}`) },
      })),
      [{ kind: 'head', key: 'j#head', expected: headOf(lists.job) as never }],
    ],
    [
      'jobs without their batch',
      {
        ...snapshot({ jobs: [] }),
        columns: [...columnItems(lists.batch, [batch(0)]), ...columnItems(lists.job, [job(0, 5, 0)])],
        batches: found([batch(0)]),
        jobs: found([job(0, 5, 0)]),
      },
      [{ kind: 'broken', key: `Batches ${uuid('b', 4)}`, found: 'missing, but 1 jobs name it' }],
    ],
  ])('reports %s, and nothing else', (_, damaged, differences) => {
    const reported = recount(lists, damaged);
    expect(reported).toMatchObject(differences);
    expect(reported).toHaveLength(differences.length);
  });

  it('keeps the order of the texts in a dictionary, and adds those that are missing', () => {
    const [first, second] = [uuid('c', 0), uuid('c', 1)];
    const damaged = withColumn('b#texts#project_id#0000000', (item) => ({ ...item, v: textBlock('unused', second) }));
    const reported = recount(lists, damaged);
    expect(reported).toContainEqual(
      expect.objectContaining({
        kind: 'head',
        expected: {
          ...headOf(lists.batch),
          tail: expect.anything(),
          dictionaries: { project_id: [first], device_type: [] },
        },
      }),
    );
    expect(reported.map(({ key }) => key)).not.toContain('b#texts#project_id#0000000');
  });

  it.each<[string, Item | undefined]>([
    ['missing', undefined],
    ['without bytes', {}],
    ['a text', { v: 'text' }],
    ['no JSON', { v: Buffer.from('[') }],
    ['of too few texts', { v: textBlock(uuid('c', 1)) }],
    ['of too many texts', { v: textBlock(uuid('c', 1), uuid('c', 0), 'unused') }],
    ['of numbers', { v: Buffer.from('[1,2]') }],
    ['of an object', { v: Buffer.from('{"length":2}') }],
    ['of a text twice', { v: textBlock(uuid('c', 0), uuid('c', 0)) }],
  ])('derives a block of texts that is %s from the rows, and nothing else differs', (_, content) => {
    const key = 'b#texts#project_id#0000000';
    const damaged = withColumn(key, () => content && { key, ...content });
    const expected = textBlock(uuid('c', 0), uuid('c', 1));
    expect(recount(lists, damaged)).toEqual([
      { kind: 'block', key, found: content && { key, ...content }, expected: Buffer.from(expected) },
    ]);
  });

  it('takes a full dictionary for sound', () => {
    const texts = [uuid('c', 0), ...Array.from({ length: 4_095 }, (_, number) => `${number}`)];
    const full = withColumn('j#head', (item) => ({ ...item, dictionaries: { project_id: texts } }));
    const reported = recount(lists, full);
    const expected = {
      ...headOf(lists.job),
      dictionaries: { project_id: [] },
      dictionary_blocks: { project_id: 2_048 },
    };
    const blocks = reported.filter(({ key }) => key.startsWith('j#texts#'));
    expect(reported).toEqual([expect.objectContaining({ kind: 'head', expected }), ...blocks]);
    expect(blocks).toHaveLength(2_048);
    expect(blocks[2]).toEqual({
      ...{ kind: 'block', key: 'j#texts#project_id#0000002', found: undefined },
      expected: Buffer.from(textBlock('3', '4')),
    });
  });

  it('numbers rows by their creation times where these do not ascend, and everything else follows', () => {
    const reported = recount(lists, withBatch(2, { created_at: '2026-01-01T00:00:00.000000Z' }));
    const rows = reported.filter((difference) => difference.kind === 'row');
    expect(rows.map(({ key, expected }) => [key, expected])).toEqual([
      [uuid('b', 7), { seq: 0 }],
      [uuid('b', 9), { seq: 1 }],
      [uuid('b', 8), { seq: 2 }],
    ]);
    const keys = reported.filter(({ kind }) => kind === 'block').map(({ key }) => key);
    expect(keys).toEqual(expect.arrayContaining(['b#i#0000000', 'b#s#0000000']));
    expect(reported).toContainEqual(
      expect.objectContaining({
        kind: 'head',
        expected: { ...headOf(lists.batch), last_created_at: time(1), tail: expect.anything() },
      }),
    );
  });

  it('reports only rows whose content breaks its schema, while there are any', () => {
    const damaged = withBatch(0, { jobs_count: 5 });
    const broken = {
      ...damaged,
      jobs: damaged.jobs.map((job, at) => (at === 1 ? { ...job, fault: 'no status' } : job)),
    };
    expect(recount(lists, broken)).toEqual([{ kind: 'broken', key: `Jobs ${uuid('a', 8)}`, found: 'no status' }]);
    const brokenBatch = { ...broken, batches: broken.batches.map((each) => ({ ...each, fault: 'no tags' })) };
    expect(recount(lists, brokenBatch)).toHaveLength(4);
  });
});
