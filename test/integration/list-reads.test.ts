/**
 * What each kind of query reads, call by call: a read too many, too wide or too consistent gives
 * right answers and costs more.
 */

import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '../../functions/data/columns/column-items.ts';
import { countBatches, listBatches } from '../../functions/data/rows/batches.ts';
import { listJobs } from '../../functions/data/rows/jobs.ts';
import { BatchListQuery } from '../../functions/schemas/batch-list-query.ts';
import { JobListQuery } from '../../functions/schemas/job-list-query.ts';
import type { Page } from '../../functions/values/page.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { answerOf, listOf } from '../support/list-oracle.ts';
import { loadList } from '../support/load-list.ts';
import { uuid } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { batchRows, jobRows } from '../support/random-rows.ts';
import { smallLists } from '../support/small-lists.ts';
import { testDb } from '../support/test-db.ts';
import { withoutRole } from '../support/without-role.ts';

const rowsPerBlock = 16;
const lists = smallLists(rowsPerBlock);
const user = 'auth0|reads';
const { client, tables } = await ownTables();
const db = testDb(client, tables, { formats: lists });
const sample = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.sample(arbitrary, { numRuns: 1, seed: 3 })[0] as Value;

/**
 * Only the rows 40 and 47 are urgent, and only these have started, in this order. All have the same
 * texts, so the head holds them.
 */
const rare = [40, 47];
const batches = sample(batchRows(user, 100)).map((batch) => ({
  ...batch,
  project_id: uuid('c', 1),
  device_type: 'FRESNEL',
  queue_priority: rare.includes(batch.seq) ? ('HIGH' as const) : ('LOW' as const),
  status: 'DONE' as const,
  start_datetime: rare.includes(batch.seq) ? `2026-03-01T00:00:${batch.seq}.000000Z` : null,
  end_datetime: '2026-03-02T00:00:00.000000Z',
  tags: batch.seq === 40 ? ['one'] : [],
  jobs_count: [90, 10][batch.seq] ?? 0,
}));
const batchOf = (seq: number) => batches[seq]?.id ?? '';
const firstDigit = batchOf(0).slice(0, 1);
const ofFirstDigit = batches
  .map(({ id }) => id)
  .filter((id) => id.startsWith(firstDigit))
  .sort();
/** The jobs of the second batch are the rows 40 to 49. */
const jobs = sample(jobRows(user, ['placeholder'], 100)).map((job) => ({
  ...job,
  project_id: uuid('c', 1),
  batch_id: batchOf(job.seq >= 40 && job.seq < 50 ? 1 : 0),
  creation_order: job.seq >= 40 && job.seq < 50 ? job.seq - 40 : job.seq < 40 ? job.seq : job.seq - 10,
  status: 'DONE' as const,
}));

type Batches = readonly (Row & { readonly user_id: string })[];

/** The same batches of another user; the chosen ones have this priority, all others a low one. */
const batchesOf = (user_id: string, priority: 'HIGH' | 'CRITICAL', isChosen: (seq: number) => boolean): Batches =>
  batches.map((batch) => ({ ...batch, user_id, queue_priority: isChosen(batch.seq) ? priority : 'LOW' }));

const load = (rows: Batches, list = lists.batch, sealed = () => true) =>
  loadList(client, tables, { list, userId: rows[0]!.user_id, rows, sealed });

const createdAt = (seq: number, end = 'Z') => String(batches[seq]?.created_at).replace('Z', end);
const timeEntry = (upTo: string) => `Columns b#times#..b#times#${upTo} limit 1`;

const unsealed = batches.map((row) => ({ ...row, user_id: 'unsealed' }));
beforeAll(async () => {
  await load(batches);
  await loadList(client, tables, { list: lists.job, userId: user, rows: jobs, sealed: () => true });
  await load(unsealed, lists.batch, () => false);
});

/**
 * A read in one line: its table or index, its key or range, and `!` where it is strongly
 * consistent. The head is read with the changes beside it.
 */
function describeRead({ name, input }: Call): string {
  const tableName = (physical: unknown) => Object.entries(tables).find(([, table]) => table === physical)?.[0];
  const mark = (consistent: unknown) => (consistent === true ? '!' : '');
  if (name === 'GetCommand') {
    const { key, id } = input.Key as Record<string, string>;
    const place = key ?? `batch ${batches.findIndex((batch) => batch.id === id)}`;
    return `${tableName(input.TableName)} ${place}${mark(input.ConsistentRead)}`;
  }
  if (name === 'BatchGetCommand') {
    const [[table, request]] = Object.entries(input.RequestItems as object) as [[string, { Keys: [] }]];
    return `${tableName(table)} ${request.Keys.length} keys${mark('ConsistentRead' in request && request.ConsistentRead)}`;
  }
  const values = input.ExpressionAttributeValues as Record<string, unknown>;
  const isOfHead = String(values[':to']).endsWith('#head');
  const range = isOfHead
    ? `${values[':to']}`
    : ':start' in values
      ? `${values[':start']}*`
      : `${values[':from'] ?? ''}..${values[':to'] ?? ''}`;
  const limit = input.Limit === undefined ? '' : ` limit ${input.Limit}`;
  const index = input.IndexName === undefined ? '' : `/${input.IndexName}`;
  const set = range.replaceAll(/#[\w-]{22}#/g, '#…#').replaceAll(/0{6}(?=\d)/g, '');
  return `${tableName(input.TableName)}${index} ${set}${limit}${mark(input.ConsistentRead)}`;
}

/**
 * Answers arrive together: once all calls that are under way have theirs. So a step is a round of
 * calls, however long each takes.
 */
async function readsOf(list: (recorded: typeof db) => Promise<Page<{ readonly id: string }>>) {
  const reads: string[] = [];
  const held: (() => void)[] = [];
  let [steps, underWay] = [0, 0];
  const recording = interceptedClient(client, async (call) => {
    reads.push(describeRead(call));
    underWay++;
    const answer = await call.send();
    underWay--;
    const arrived = new Promise<void>((release) => held.push(release));
    if (underWay === 0) {
      steps++;
      for (const release of held.splice(0)) release();
    }
    await arrived;
    return answer;
  });
  const answer = answerOf(await list({ ...db, client: recording }));
  return { answer, reads: reads.sort(), steps };
}

/** A list of these batches is right, takes these reads, and as many steps. */
async function expectReads(
  rows: Batches,
  parameters: Record<string, string[]>,
  { reads, steps, formats = lists }: { reads: readonly string[]; steps: number; formats?: typeof lists },
) {
  const query = BatchListQuery.parse(parameters);
  const found = await readsOf((recorded) =>
    listBatches({ ...recorded, formats }, withoutRole(rows[0]!.user_id), query),
  );
  expect(found).toEqual({ answer: listOf(rows, query as never), reads: reads.toSorted(), steps });
}

/** What each query by a facet reads: the newest blocks, the summaries of old ones, the head. */
const firstOfFacets = ['Columns b#f#0..b#f#9999999 limit 3', 'Columns b#f#s#0..b#f#s#9999999', 'Columns b#head'];

const bothTimes = { start_date: ['2026-01-01'], end_date: ['2026-04-01'] };
const readsForBothTimes = [
  'Batches/by_creation 40..47',
  'Columns b#e#0..b#e#9999999 limit 3',
  'Columns b#e#2..b#e#3',
  'Columns b#e#s#0..b#e#s#9999999',
  'Columns b#f#s#0..b#f#s#9999999',
  'Columns b#head',
  'Columns b#s#0..b#s#9999999 limit 3',
  'Columns b#s#2..b#s#3',
  'Columns b#s#s#0..b#s#s#9999999',
];

describe('a count by status', () => {
  const countReads = (query: Record<string, string[]>) =>
    readsOf(async (recorded) => {
      const counts = await countBatches(recorded, withoutRole(user), BatchListQuery.parse(query));
      return { items: [], total: counts.DONE! };
    });

  it('of all rows takes the summaries and the newest blocks of one column', async () => {
    const { answer, reads, steps } = await countReads({});
    expect(answer.total).toBe(100);
    expect(reads).toEqual(firstOfFacets);
    expect(steps).toBe(1);
  });

  it.each<Record<string, string[]>>([
    { queue_priority: ['HIGH'] },
    { min_jobs: ['1'] },
    { tag: ['one'] },
    { created_after: [createdAt(40)] },
    { id: [batchOf(1), batchOf(2)] },
    { id__starts_with: [firstDigit] },
    bothTimes,
  ])('of %j reads nothing that the list in the order of statuses does not', async (query) => {
    const { answer, reads, steps } = await countReads(query);
    const list = await readsOf((recorded) =>
      listBatches(recorded, withoutRole(user), BatchListQuery.parse({ ...query, order_by: ['status'] })),
    );
    expect(answer.total).toBe(list.answer.total);
    expect(list.reads).toEqual(expect.arrayContaining(reads));
    expect(steps).toBeLessThanOrEqual(list.steps);
  });
});

describe('a list of batches', () => {
  it.each<[string, Record<string, string[]>, string[], number]>([
    ['the newest rows', { limit: ['5'] }, ['Batches/by_creation .. limit 5', 'Columns b#head'], 1],
    ['rows at an offset', { limit: ['5'], offset: ['10'] }, ['Batches/by_creation 85..89', 'Columns b#head'], 2],
    [
      'the oldest rows',
      { limit: ['5'], offset: ['10'], order_by_direction: ['ASC'] },
      ['Batches/by_creation 10..14', 'Columns b#head'],
      1,
    ],
    ['rows beyond the end', { offset: ['100'] }, ['Columns b#head'], 1],
    [
      'the newest rows since a time, and the rows around it',
      { created_after: [createdAt(50)], limit: ['5'] },
      ['Batches/by_creation 49..52', 'Batches/by_creation 95..99', 'Columns b#head', timeEntry(createdAt(50, ''))],
      3,
    ],
    [
      'the oldest rows up to a time, and the rows around it',
      { created_before: [createdAt(50)], order_by_direction: ['ASC'], limit: ['5'] },
      ['Batches/by_creation 0..4', 'Batches/by_creation 49..52', 'Columns b#head', timeEntry(createdAt(50))],
      3,
    ],
    [
      'rows between two times, at an offset',
      { created_after: [createdAt(2)], created_before: [createdAt(50)], limit: ['5'], offset: ['10'] },
      [
        'Batches/by_creation 0..4',
        'Batches/by_creation 36..40',
        'Batches/by_creation 49..52',
        'Columns b#head',
        timeEntry(createdAt(2, '')),
        timeEntry(createdAt(50)),
      ],
      3,
    ],
    [
      'rows since a time that is later than all',
      { created_after: ['2026-02-01'] },
      ['Columns b#head', timeEntry('2026-02-01T00:00:00.000000')],
      1,
    ],
    [
      'rows up to a time that is later than all',
      { created_before: ['2026-02-01'], limit: ['5'] },
      ['Batches/by_creation 95..99', 'Columns b#head', timeEntry('2026-02-01T00:00:00.000000Z')],
      2,
    ],
    ['ids and a time', { id: [batchOf(1), batchOf(2)], created_after: [createdAt(2)] }, ['Batches 2 keys'], 1],
    [
      'a facet since a time: summaries of later segments, and the column where the time lies',
      { created_after: [createdAt(40)], status: ['DONE'], limit: ['5'] },
      [
        ...firstOfFacets,
        'Batches/by_creation 37..40',
        'Batches/by_creation 95..99',
        'Columns b#f#2..b#f#3',
        timeEntry(createdAt(40, '')),
      ],
      2,
    ],
    [
      'a facet up to a time: nothing of later segments',
      { created_before: [createdAt(50)], queue_priority: ['HIGH'] },
      [
        ...firstOfFacets,
        'Batches/by_creation 40..47',
        'Batches/by_creation 49..52',
        'Columns b#f#2..b#f#3',
        timeEntry(createdAt(50)),
      ],
      3,
    ],
    [
      'an order between two times',
      { created_after: [createdAt(20)], created_before: [createdAt(60)], order_by: ['jobs_count'], limit: ['2'] },
      [
        'Batches/by_creation 17..20',
        'Batches/by_creation 59..60',
        'Batches/by_creation 61..64',
        'Columns b#head',
        'Columns b#n#0..b#n#3',
        'Columns b#n#0..b#n#9999999 limit 3',
        'Columns b#n#s#0..b#n#s#9999999',
        timeEntry(createdAt(20, '')),
        timeEntry(createdAt(60)),
      ],
      3,
    ],
    [
      'an order by id since a time: only the ids since then',
      { created_after: [createdAt(90)], order_by: ['id'] },
      [
        'Batches/by_creation 89..92',
        'Batches/by_creation 90..99',
        'Columns b#head',
        'Columns b#i#5..b#i#6',
        timeEntry(createdAt(90, '')),
      ],
      3,
    ],
    ['ids', { id: [batchOf(1), batchOf(2)] }, ['Batches 2 keys'], 1],
    [
      'all by id, the total first',
      { order_by: ['id'], order_by_direction: ['ASC'], limit: ['5'], offset: ['10'] },
      ['Batches .. limit 15', 'Columns b#head'],
      2,
    ],
    ['all by id beyond the end', { order_by: ['id'], offset: ['100'] }, ['Columns b#head'], 1],
    [
      'a wide prefix by id, the rows of the page together',
      { order_by: ['id'], order_by_direction: ['ASC'], id__starts_with: [firstDigit] },
      [
        `Batches ${ofFirstDigit.at(0)}..${ofFirstDigit.at(-1)}`.replaceAll(/0{6}(?=\d)/g, ''),
        'Columns b#head',
        'Columns b#i#0..b#i#0000999',
        'Columns b#i#0001000..b#i#9999999',
      ],
      2,
    ],
    ['a selective prefix', { id__starts_with: [batchOf(1).slice(0, 4)] }, [`Batches ${batchOf(1).slice(0, 4)}*`], 1],
    [
      'a facet: the newest blocks, summaries, and a block of the segment with the page',
      { queue_priority: ['HIGH'] },
      [...firstOfFacets, 'Batches/by_creation 40..47', 'Columns b#f#2..b#f#3'],
      3,
    ],
    ['two times, with the facets that say which rows have both', bothTimes, readsForBothTimes, 3],
    [
      'a time that no old row has',
      { start_date: ['2026-04-01'] },
      ['Columns b#head', 'Columns b#s#0..b#s#9999999 limit 3', 'Columns b#s#s#0..b#s#s#9999999'],
      1,
    ],
    [
      'an order: the summaries say which segment holds the page',
      { order_by: ['jobs_count'], limit: ['2'] },
      [
        'Batches/by_creation 0..1',
        'Columns b#head',
        'Columns b#n#0..b#n#1',
        'Columns b#n#0..b#n#9999999 limit 3',
        'Columns b#n#s#0..b#n#s#9999999',
      ],
      3,
    ],
    ['a tag', { tag: ['one'] }, ['Batches/by_creation 40..40', 'Columns b#head', 'Columns b#t#…#0..b#t#…#9999999'], 2],
    [
      'a tag and a facet, side by side',
      { tag: ['one'], queue_priority: ['HIGH'] },
      ['Batches/by_creation 40..40', 'Columns b#f#0..b#f#9999999', 'Columns b#head', 'Columns b#t#…#0..b#t#…#9999999'],
      2,
    ],
    ['no row of a facet', { status: ['PAUSED'] }, firstOfFacets, 1],
  ])('reads for %s', (_, parameters, reads, steps) => expectReads(batches, parameters, { reads, steps }));

  it.each<[string, Record<string, string[]>, string[], number]>([
    [
      'the columns of segments that are not sealed',
      { queue_priority: ['HIGH'] },
      ['Batches/by_creation 40..47', 'Columns b#f#0..b#f#3'],
      3,
    ],
    [
      'what such a segment hides and the rows of a page that comes before it at once',
      { status: ['DONE'], limit: ['2'] },
      ['Batches/by_creation 98..99', 'Columns b#f#0..b#f#3'],
      2,
    ],
  ])('reads %s', async (_, parameters, ofPage, steps) => {
    await expectReads(unsealed, parameters, { reads: [...firstOfFacets, ...ofPage], steps });
  });

  it('reads no more of a segment whose newer part has the whole page', async () => {
    const rows = batches.slice(0, 95).map((row) => ({ ...row, user_id: 'divided' }));
    await load(rows);
    // Blocks 3 to 5 are the newest, and the segments 0 and 1 are sealed: blocks 0 to 3.
    const reads = [...firstOfFacets, 'Batches/by_creation 55..94'];
    await expectReads(rows, { status: ['DONE'], limit: ['40'] }, { reads, steps: 2 });
  });
});

describe('a list of jobs', () => {
  it.each<[string, Record<string, string[]>, string[], number]>([
    [
      'a batch in order',
      { batch_id: [batchOf(1)], order_by: ['creation_order'], order_by_direction: ['ASC'], limit: ['5'] },
      ['Columns j#B#…#0..j#B#…#9999999!', 'Columns j#head!', 'Jobs/by_creation 40..44'],
      2,
    ],
    [
      'a batch and a facet, only where its jobs are',
      { batch_id: [batchOf(1)], status: ['DONE'] },
      ['Columns j#B#…#0..j#B#…#9999999', 'Columns j#f#2..j#f#3', 'Columns j#head', 'Jobs/by_creation 40..49'],
      3,
    ],
    [
      'a batch without jobs',
      { batch_id: [batchOf(5)], status: ['DONE'] },
      ['Columns j#B#…#0..j#B#…#9999999', 'Columns j#head'],
      1,
    ],
  ])('reads for %s', async (_, parameters, reads, steps) => {
    const query = JobListQuery.parse(parameters);
    const found = await readsOf((recorded) => listJobs(recorded, withoutRole(user), query));
    expect(found).toEqual({ answer: listOf(jobs, query as never), reads: reads.sort(), steps });
  });
});

describe('a list of batches that lie far apart', () => {
  const rows = batchesOf('auth0|scattered', 'HIGH', (seq) => seq % 12 === 0);
  const formats = smallLists(2);
  beforeAll(() => load(rows, formats.batch, () => false));

  it.each([
    [
      'each of them by its id, and each id by its block',
      'created_at',
      [...firstOfFacets, 'Columns 9 keys', 'Columns b#f#0..b#f#0000045'],
      4,
    ],
    [
      'each of them by its id, where the ids are known',
      'id',
      [
        'Columns b#head',
        'Columns b#f#0..b#f#9999999',
        'Columns b#i#0..b#i#0000999',
        'Columns b#i#0001000..b#i#9999999',
      ],
      2,
    ],
  ])('reads %s', async (_, order_by, ofColumns, steps) => {
    const reads = ['Batches 9 keys', ...ofColumns];
    await expectReads(rows, { queue_priority: ['HIGH'], order_by: [order_by] }, { reads, steps, formats });
  });
});

describe('a list of batches whose page is all over old and new rows', () => {
  const rows = batchesOf('auth0|spread', 'CRITICAL', (seq) => seq % 12 === 0);
  beforeAll(() => load(rows));

  it('reads all ids beside the old blocks, as a look-up of those on the page would', async () => {
    const parameters = { order_by: ['queue_priority'], order_by_direction: ['ASC'], limit: ['9'] };
    const reads = [...firstOfFacets, 'Batches 9 keys', 'Columns b#f#0..b#f#3', 'Columns b#i#0..b#i#6'];
    await expectReads(rows, parameters, { reads, steps: 3 });
  });
});

describe('a page of batches that lies deep among old rows, far apart', () => {
  const rows = sample(batchRows('auth0|deep', 400)).map((batch) => ({
    ...batch,
    project_id: uuid('c', 1),
    device_type: 'FRESNEL',
    queue_priority: batch.seq % 8 === 0 ? ('HIGH' as const) : ('LOW' as const),
  }));
  beforeAll(() => load(rows));

  // The ranks 20 to 31 from either end: of the ids, an eighth of a segment more on either side.
  it.each([
    ['newest', 'DESC', 'Columns b#f#8..b#f#0000015', 'Columns b#i#8..b#i#0000014'],
    ['oldest', 'ASC', 'Columns b#f#0000010..b#f#0000015', 'Columns b#i#9..b#i#0000015'],
  ])('takes three steps, as ids are read beside old blocks, from the %s on', async (_, direction, ...ofPage) => {
    const parameters = { queue_priority: ['HIGH'], order_by_direction: [direction], offset: ['20'], limit: ['12'] };
    await expectReads(rows, parameters, { reads: [...firstOfFacets, ...ofPage, 'Batches 12 keys'], steps: 3 });
  });
});

describe('a list of batches that lie far apart, up to a time', () => {
  const rows = batchesOf('auth0|far apart', 'CRITICAL', (seq) => seq % 7 === 0);
  beforeAll(() => load(rows));

  it('reads the segments and ids that the page is likely to need beside the rows at the time', async () => {
    const parameters = { queue_priority: ['CRITICAL'], created_before: [createdAt(60)] };
    const reads = [
      ...firstOfFacets,
      'Batches 9 keys',
      'Batches/by_creation 61..64',
      'Columns b#f#0..b#f#3',
      'Columns b#i#0..b#i#3',
      timeEntry(createdAt(60)),
    ];
    await expectReads(rows, parameters, { reads, steps: 3 });
  });
});

describe('a list of batches of many projects', () => {
  const user_id = 'auth0|many projects';
  const rows = batches.map((batch) => ({ ...batch, user_id, project_id: uuid('c', batch.seq % 7) }));
  beforeAll(() => load(rows));

  it.each<[string, Record<string, string[]>, string[], number]>([
    ['no texts for the newest rows', { limit: ['5'] }, ['Batches/by_creation .. limit 5', 'Columns b#head'], 1],
    ['no texts for times, also where facets say which rows have both', bothTimes, readsForBothTimes, 3],
    [
      'the texts for a facet',
      { project_id: [uuid('c', 5)], queue_priority: ['HIGH'] },
      [...firstOfFacets, 'Batches/by_creation 40..47', 'Columns b#f#2..b#f#3', 'Columns b#texts#*'],
      4,
    ],
  ])('reads %s', (_, parameters, reads, steps) => expectReads(rows, parameters, { reads, steps }));
});

describe('a bound of creation behind the newest row', () => {
  /** The tail holds up to 16 rows: with some of these numbers, it begins at the end of a block. */
  const counts = [15, 16, 17, 24, 31, 32, 33, 40, 47, 48, 49, 56];
  const userOf = (count: number) => `auth0|${count} rows`;
  const rowsOf = (count: number) => batches.slice(0, count).map((row) => ({ ...row, user_id: userOf(count) }));

  beforeAll(async () => {
    for (const count of counts) await load(rowsOf(count), lists.batch, () => false);
  });

  it.each<[string, Record<string, string[]>]>([
    ['the beginning of an id', { id__starts_with: [firstDigit] }],
    ['a tag and a status', { tag: ['one'], status: ['DONE'] }],
    ['a tag and a time', { tag: ['one'], start_date: ['2026-01-01'] }],
  ])('finds nothing, and fails for nobody, beside %s', async (_, parameters) => {
    for (const count of counts) {
      for (const bound of [batches[count - 1]?.created_at, '2030-01-01']) {
        const query = BatchListQuery.parse({ ...parameters, created_after: [String(bound)] });
        const found = answerOf(await listBatches(db, withoutRole(userOf(count)), query));
        expect([count, bound, found]).toEqual([count, bound, listOf(rowsOf(count), query as never)]);
      }
    }
  });
});
