import { describe, expect, it } from 'vitest';
import type { Row } from '../../../functions/data/columns/column-items.ts';
import { storedHead } from '../../../functions/data/columns/dictionaries.ts';
import { emptyHead, headKey } from '../../../functions/data/columns/head.ts';
import type { ListDescription } from '../../../functions/data/columns/list-description.ts';
import type { Item } from '../../../functions/data/dynamodb/reads.ts';
import { type Difference, recount } from '../../../infra/repair/recount.ts';
import type { Snapshot } from '../../../infra/repair/snapshot.ts';
import { storedColumns } from '../../support/load-list.ts';
import { uuid } from '../../support/new-batch.ts';
import { smallLists } from '../../support/small-lists.ts';

const lists = smallLists(2);
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
  user_id: 'user',
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
  job(0, 0, 0, { status: 'DONE', start_timestamp: time(40), end_timestamp: time(40) }),
  job(1, 2, 0, { status: 'ERROR', errors: ['timeout'], end_timestamp: time(1) }),
  job(2, 0, 1, { runs: null }),
];

function columnItems(list: ListDescription, rows: readonly Item[]): Item[] {
  const { head, blocks } = storedColumns(list, rows as Row[]);
  const items = [{ key: headKey(list), ...storedHead(list, head) }, ...Array.from(blocks, ([key, v]) => ({ key, v }))];
  return rows.length > 0 ? items : [];
}

const noUsage = { months: new Set<string>(), items: [] };
const found = (rows: readonly Item[]) => rows.map((row) => ({ row, fault: undefined }));
const snapshot = (of: { batches?: readonly Item[]; jobs?: readonly Item[] } = {}): Snapshot => ({
  columns: [...columnItems(lists.batch, batches), ...columnItems(lists.job, jobs)],
  batches: found(of.batches ?? batches),
  jobs: found(of.jobs ?? jobs),
  usage: noUsage,
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
      usage: noUsage,
    };
    expect(recount(lists, reversed)).toEqual([]);
  });

  it('finds nothing of an owner who has nothing, or batches alone', () => {
    expect(recount(lists, { columns: [], batches: [], jobs: [], usage: noUsage })).toEqual([]);
    const alone = [batch(0), batch(1)];
    expect(
      recount(lists, { columns: columnItems(lists.batch, alone), batches: found(alone), jobs: [], usage: noUsage }),
    ).toEqual([]);
  });

  it('takes rows of one time in the order of their numbers, then of their ids', () => {
    const sameTime: Item[] = batches.map((row) => ({ ...row, created_at: time(2) }));
    const columns = [...columnItems(lists.batch, sameTime), ...columnItems(lists.job, jobs)];
    expect(recount(lists, { ...snapshot({ batches: sameTime }), columns })).toEqual([]);
    const numberless = sameTime.map((row) => (row.seq === 0 ? row : { ...row, seq: undefined }));
    const differences = recount(lists, snapshot({ batches: numberless })).filter(({ kind }) => kind === 'row');
    expect(differences).toMatchObject([
      { key: uuid('b', 7), expected: { seq: 1 } },
      { key: uuid('b', 8), expected: { seq: 2 } },
    ]);
  });

  it.each<[string, Snapshot, Partial<Extract<Difference, { kind: 'row' }>>]>([
    [
      'a wrong count of jobs',
      withBatch(0, { jobs_count: 5 }),
      { table: 'Batches', key: uuid('b', 9), found: { jobs_count: 5 }, expected: { jobs_count: 2 }, rev: 3 },
    ],
    ['a negative count of jobs', withBatch(0, { jobs_count: -2 }), { expected: { jobs_count: 2 } }],
    ['a count of jobs that is a text', withBatch(0, { jobs_count: 'two' }), { expected: { jobs_count: 2 } }],
    [
      'lost counts per status',
      withBatch(2, { jobs_count_per_status: undefined }),
      { key: uuid('b', 7), expected: { jobs_count_per_status: counts({ ERROR: 1 }) } },
    ],
    [
      'a version that is a text',
      withJob(1, { rev: 'x' }),
      { table: 'Jobs', key: uuid('a', 8), expected: { rev: 0 }, rev: 'x' },
    ],
    ['a version that is negative', withJob(1, { rev: -1 }), { key: uuid('a', 8), expected: { rev: 0 } }],
    ['a version that is no whole number', withJob(1, { rev: 0.5 }), { key: uuid('a', 8), expected: { rev: 0 } }],
    ['a lost version', withJob(1, { rev: undefined }), { key: uuid('a', 8), expected: { rev: 0 }, rev: undefined }],
    [
      'times of writing of which one is a text',
      withBatch(0, { written_at: { status: 5, open: 'x' } }),
      { key: uuid('b', 9), expected: { written_at: { status: 5 } } },
    ],
    [
      'times of writing that are null',
      withBatch(1, { written_at: null }),
      { key: uuid('b', 8), expected: { written_at: {} } },
    ],
    [
      'a lost place in the batch',
      withJob(2, { creation_order: undefined }),
      { key: uuid('a', 7), expected: { creation_order: 1 } },
    ],
    ['a lost number', withJob(1, { seq: undefined }), { key: uuid('a', 8), expected: { seq: 1 } }],
    ['a negative number', withBatch(2, { seq: -1 }), { key: uuid('b', 7), found: { seq: -1 }, expected: { seq: 2 } }],
  ])('reports %s, and nothing else', (_, damaged, difference) => {
    expect(recount(lists, damaged)).toEqual([expect.objectContaining({ kind: 'row', ...difference })]);
  });

  it.each<[string, string, (item: Item) => Item | undefined]>([
    ['a lost block', 'b#f#0000000', () => undefined],
    ['a block of other bytes', 'j#r#0000000', (item) => ({ ...item, v: Uint8Array.of(1) })],
    ['a block that is a text', 'b#u#0000000', (item) => ({ ...item, v: 'text' })],
    ['a block without bytes', 'b#i#0000000', (item) => without(item, 'v')],
  ])('reports %s, and nothing else', (_, key, change) => {
    const { v, ...found } = itemOf(key);
    const [difference, ...others] = recount(lists, withColumn(key, change));
    expect(difference).toEqual({ kind: 'block', key, found: change({ ...found, v }), expected: v });
    expect(others).toEqual([]);
  });

  it.each<[string, 'b#head' | 'j#head', (item: Item) => Item | undefined]>([
    ['a lost head', 'b#head', () => undefined],
    ['a lost tail', 'b#head', (head) => without(head, 'tail')],
    ['a tail of other bytes', 'j#head', (head) => ({ ...head, tail: { ...head.tail, r: Uint8Array.of(1) } })],
    ['a tail with a column more', 'j#head', (head) => ({ ...head, tail: { ...head.tail, z: Uint8Array.of(1) } })],
    ['a head that counts too few', 'j#head', (head) => ({ ...head, next_seq: 1 })],
    ['a head of another time', 'j#head', (head) => ({ ...head, last_created_at: time(50) })],
    ['a head of another format', 'j#head', (head) => ({ ...head, format: 'older' })],
    ['a head without a format', 'j#head', (head) => without(head, 'format')],
    ['a head that breaks its schema', 'j#head', (head) => ({ ...head, next_seq: 'x' })],
    [
      'a dictionary that the list does not have',
      'j#head',
      (head) => ({ ...head, dictionaries: { ...head.dictionaries, other: ['x'] } }),
    ],
    [
      'a dictionary with a text twice',
      'j#head',
      (head) => ({ ...head, dictionaries: { project_id: [uuid('c', 0), uuid('c', 0)] } }),
    ],
    [
      'a head with a text that is in a block too',
      'b#head',
      (head) => ({ ...head, dictionaries: { project_id: [uuid('c', 0)], device_type: [] } }),
    ],
    ['a head that knows no blocks of texts', 'b#head', (head) => without(head, 'dictionary_blocks')],
    [
      'a dictionary beyond its capacity',
      'j#head',
      (head) => ({ ...head, dictionaries: { project_id: Array.from({ length: 4_097 }, (_, number) => `${number}`) } }),
    ],
  ])('reports %s, and nothing else', (_, key, change) => {
    const expected = headOf(key === 'b#head' ? lists.batch : lists.job);
    expect(recount(lists, withColumn(key, change))).toEqual([
      { kind: 'head', key, found: change(itemOf(key)), expected },
    ]);
  });

  it('reports the head of an owner without rows', () => {
    const columns = [{ key: 'b#head', ...emptyHead(lists.batch), next_seq: 1 }];
    expect(recount(lists, { columns, batches: [], jobs: [], usage: noUsage })).toEqual([
      { kind: 'head', key: 'b#head', found: columns[0], expected: emptyHead(lists.batch) },
    ]);
  });

  it('reports blocks that should not be there, but not the items of others', () => {
    const wrong = ['b#n#0000009', 'j#z#0000000', 'b#texts#project_id#0000001', 'b#texts#other#0000000'];
    const added = [...wrong, 'event#b#1', 'c#n#0000000'].map((key) => ({ key, v: textBlock('x', 'y') }));
    const reported = recount(lists, { ...snapshot(), columns: [...snapshot().columns, ...added] });
    const differences = added.slice(0, 4).map((found) => ({ kind: 'block', key: found.key, found }));
    expect(reported).toHaveLength(4);
    expect(reported).toEqual(expect.arrayContaining(differences.map((each) => ({ ...each, expected: undefined }))));
  });

  it('reports jobs without their batch', () => {
    const columns = [...columnItems(lists.batch, [batch(0)]), ...columnItems(lists.job, [job(0, 5, 0)])];
    const orphaned = { columns, batches: found([batch(0)]), jobs: found([job(0, 5, 0)]), usage: noUsage };
    expect(recount(lists, orphaned)).toEqual([
      { kind: 'broken', key: `Batches ${uuid('b', 4)}`, found: 'missing, but 1 jobs name it' },
    ]);
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
