/**
 * What happens to stored data when a description changes: written under the old one, read and
 * written by the new code, then moved.
 */

import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoredHead } from '../../functions/data/columns/head.ts';
import { type OwnerFormats, ownerFormats } from '../../functions/data/columns/lists.ts';
import { isSummarized } from '../../functions/data/columns/summary.ts';
import type { Condition, ListQuery, Order } from '../../functions/data/lists/query.ts';
import { readList } from '../../functions/data/lists/reader.ts';
import { listProjects } from '../../functions/data/rows/projects.ts';
import { OutdatedColumns } from '../../functions/errors.ts';
import type { Claims } from '../../functions/schemas/claims.ts';
import { LifecycleEvent } from '../../functions/schemas/lifecycle-event.ts';
import { BatchStatus } from '../../functions/schemas/values.ts';
import { recount } from '../../infra/repair/recount.ts';
import { repairUser } from '../../infra/repair/repair-user.ts';
import { readSnapshot } from '../../infra/repair/snapshot.ts';
import { deep, oneOrAll } from '../support/depth.ts';
import { interruptedClient } from '../support/interrupted-client.ts';
import { answerOf } from '../support/list-oracle.ts';
import { loadList } from '../support/load-list.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { ownTables } from '../support/own-tables.ts';
import { batchesAndJobs, ownerRows } from '../support/owner-rows.ts';
import { batchRows } from '../support/random-rows.ts';
import { smallLists } from '../support/small-lists.ts';
import { countingClient } from '../support/strike-each.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, tables } = await ownTables();
const dbOf = (formats: OwnerFormats) => testDb(client, tables, { formats });
const before = smallLists(4);
const rowCount = 30;

type Row = Record<string, unknown> & { readonly id: string; readonly seq: number };

/**
 * Batches as an earlier release stored them; some have the attributes that only the new description
 * names.
 */
function storedBatches(userId: string): Row[] {
  const [rows] = fc.sample(batchRows(userId, rowCount), { numRuns: 1, seed: 11 });
  return (rows ?? []).map((row, at) => ({
    ...row,
    // All of one month, so that a repair reads the usage of one.
    created_at: row.created_at.replace('2026-01', '2026-03'),
    // Sound: it has an end when it has ended, after any start.
    end_datetime: ['PENDING', 'RUNNING', 'PAUSED', 'CANCELING'].includes(row.status)
      ? null
      : '2026-03-31T00:00:00.000000Z',
    written_at: {},
    jobs_count: 0,
    jobs_count_per_status: { ...row.jobs_count_per_status, DONE: 0, ERROR: 0 },
    ...(at % 3 === 0 && { backend_configuration: `configuration ${at}` }),
    ...(at % 4 === 0 && { device_status: `status ${at % 5}` }),
    ...(at % 5 > 1 && { shots: (at * 7) % 11, region: at % 2 === 0 ? 'EU' : 'US' }),
  }));
}

interface Question {
  readonly where?: Condition;
  readonly matches?: (row: Row) => boolean;
  readonly order?: Order;
  /** What the order goes by. */
  readonly by?: (row: Row) => number | string | null;
}

const facet = (name: string, ...oneOf: (string | boolean)[]): Condition => ({ kind: 'facet', facet: name, oneOf });
const byColumn = (column: string): Order => ({ kind: 'column', column });
const all = { ...before.batch.columns };
const { facets: facetColumn } = before.batch.columns as { facets: Extract<(typeof all)[string], { kind: 'facets' }> };
const withFacets = (facets: (typeof facetColumn)['facets'], rowDefaults = {}): OwnerFormats['batch'] => ({
  ...before.batch,
  columns: { ...all, facets: { ...facetColumn, facets } },
  rowDefaults,
});

/**
 * For attributes that the schema of rows does not have: writers of a real release would store them.
 */
const notWritten = ['a facet of a field that older rows lack'];

const hasWaiting = (row: Row) => (row.jobs_count_per_status as { PENDING: number }).PENDING > 0;

/** A change of the batches' description, and questions that only the new columns answer rightly. */
interface Changed {
  readonly batch: OwnerFormats['batch'];
  readonly questions: readonly Question[];
}

const changes: Readonly<Record<string, Changed>> = {
  'a column of an attribute that every row has': {
    batch: {
      ...before.batch,
      columns: { ...all, created_at: { kind: 'time', key: 'c', attribute: 'created_at', rowsPerBlock: 4 } },
    },
    questions: [{ order: byColumn('created_at'), by: (row) => String(row.created_at) }],
  },
  'a column of a field that older rows lack': {
    batch: {
      ...before.batch,
      columns: { ...all, shots: { kind: 'integer', key: 'h', attribute: 'shots', rowsPerBlock: 4 } },
    },
    questions: [
      { order: byColumn('shots'), by: (row) => (row.shots as number | undefined) ?? null },
      { where: { kind: 'range', column: 'shots', from: 5 }, matches: (row) => Number(row.shots) >= 5 },
    ],
  },
  'a facet for the presence of a text': {
    batch: withFacets({
      ...facetColumn.facets,
      configured: { kind: 'presence', attribute: 'backend_configuration' },
    }),
    questions: [
      { where: facet('configured', true), matches: (row) => row.backend_configuration !== null },
      { where: facet('configured', false), matches: (row) => row.backend_configuration === null },
      { where: facet('open', true), matches: (row) => row.open === true },
    ],
  },
  'a facet of what is counted': {
    batch: withFacets({
      waiting: { kind: 'counted', attribute: 'jobs_count_per_status', member: 'PENDING' },
      ...facetColumn.facets,
    }),
    questions: [
      { where: facet('waiting', true), matches: hasWaiting },
      { where: facet('waiting', false), matches: (row) => !hasWaiting(row) },
    ],
  },
  'a facet of a field that older rows lack': {
    batch: withFacets(
      { region: { kind: 'values', attribute: 'region', values: ['US', 'EU'] }, ...facetColumn.facets },
      { region: 'EU' },
    ),
    questions: [
      { where: facet('region', 'EU'), matches: (row) => (row.region ?? 'EU') === 'EU' },
      { order: { kind: 'facet', facet: 'region' }, by: (row) => (row.region === 'US' ? 0 : 1) },
      { where: facet('status', 'DONE'), matches: (row) => row.status === 'DONE' },
    ],
  },
  'a further value of a facet': {
    batch: withFacets({
      ...facetColumn.facets,
      status: { kind: 'values', attribute: 'status', values: ['LOST', ...BatchStatus.options] },
    }),
    questions: [
      ...BatchStatus.options.map((status) => ({
        where: facet('status', status),
        matches: (row: Row) => row.status === status,
      })),
      { where: facet('open', false), matches: (row) => row.open === false },
      {
        order: { kind: 'facet', facet: 'status' },
        by: (row) => BatchStatus.options.indexOf(row.status as BatchStatus),
      },
    ],
  },
  'sets of another attribute': {
    batch: {
      ...before.batch,
      sets: { ...before.batch.sets, device: { key: 'd', attribute: 'device_status', rowsPerBlock: 4 } },
    },
    questions: [
      {
        where: { kind: 'set', sets: 'device', oneOf: ['status 4'] },
        matches: (row) => row.device_status === 'status 4',
      },
    ],
  },
  'columns under other keys, some left out, in blocks and segments of another size': {
    batch: {
      ...before.batch,
      rowsPerSegment: 10,
      columns: {
        id: { kind: 'uuid', key: 'I', attribute: 'id', rowsPerBlock: 7 },
        facets: { ...facetColumn, rowsPerBlock: 5 },
      },
    },
    questions: [
      { where: facet('open', true), matches: (row) => row.open === true },
      {
        where: facet('open', false),
        matches: (row) => row.open === false,
        order: byColumn('id'),
        by: (row) => row.id,
      },
    ],
  },
};

/** What an array of the rows answers: ids and total. */
function expected(rows: readonly Row[], { matches = () => true, by }: Question, query: ListQuery) {
  const sign = query.direction === 'ASC' ? 1 : -1;
  const matching = rows.filter(matches);
  const valued = matching.map((row) => ({ row, value: by?.(row) ?? null }));
  valued.sort((a, b) => {
    if (a.value === b.value) return sign * (a.row.seq - b.row.seq);
    if (a.value === null || b.value === null) return a.value === null ? 1 : -1;
    return a.value < b.value ? -sign : sign;
  });
  const page = valued.slice(query.offset, query.offset + query.limit);
  return { ids: page.map(({ row }) => row.id), total: matching.length };
}

const readBatches = (formats: OwnerFormats, userId: string, query: ListQuery) =>
  readList(dbOf(formats), formats.batch, userId, query);

async function expectRightAnswers(formats: OwnerFormats, userId: string, questions: readonly Question[]) {
  const { batches } = await batchesAndJobs(client, tables, userId);
  for (const [at, question] of questions.entries()) {
    for (const direction of oneOrAll(['ASC', 'DESC'] as const, at)) {
      const query = queryOf(question, direction);
      const answer = answerOf(await readBatches(formats, userId, query));
      expect(answer, JSON.stringify(query)).toEqual(expected(batches as unknown as Row[], question, query));
    }
  }
}

function queryOf({ where, order = { kind: 'creation' } }: Question, direction: 'ASC' | 'DESC' = 'ASC'): ListQuery {
  return { conditions: where === undefined ? [] : [where], order, direction, offset: 1, limit: 20 };
}

/** An owner whose rows and columns an earlier release has written, and sealed what is old. */
async function owner(userId: string): Promise<string> {
  await loadList(client, tables, { list: before.batch, userId, rows: storedBatches(userId), sealed: () => true });
  return userId;
}

async function summariesOf(userId: string): Promise<string[]> {
  return Object.keys((await ownerRows(client, tables, userId)).columns).filter((key) => /^b#.#s#\d/.test(key));
}

async function differencesOf(formats: OwnerFormats, userId: string) {
  return recount(formats, await readSnapshot({ db: dbOf(formats), userId }));
}

describe.each(Object.entries(changes))('%s', (change, { batch, questions }) => {
  const after: OwnerFormats = { ...before, batch };

  it('is moved by repairs, however often interrupted, after which readers and writers are right', async () => {
    const userId = await owner(`repair ${change}`);
    const { batches } = await batchesAndJobs(client, tables, userId);
    const read = (query: ListQuery) => readBatches(after, userId, query);
    const writer = writeApi(dbOf(after));
    let checks = 0;
    const expectRefusals = async () => {
      for (const question of oneOrAll(questions, checks++)) {
        const refusal = await read(queryOf(question)).catch((error: unknown) => error);
        expect(refusal).toBeInstanceOf(OutdatedColumns);
        expect(String(refusal)).toMatch(/npm run repair -- --fix/);
      }
      for (const direction of oneOrAll(['ASC', 'DESC'] as const, checks)) {
        const answer = answerOf(await read(queryOf({}, direction)));
        expect(answer).toEqual(expected(batches as unknown as Row[], {}, queryOf({}, direction)));
      }
      const oneOf = batches.slice(0, 3).map((row) => row.id);
      expect((await read({ ...queryOf({ where: { kind: 'ids', oneOf } }), offset: 0 })).total).toBe(3);
      await expect(writer.createBatch(userId, newBatch(1))).rejects.toThrow(OutdatedColumns);
    };
    await expectRefusals();
    const interruptions = await repairPiecewise(userId, after, async () => {
      await expectRefusals();
      // The earlier release may still run, or run again: it must not use columns that are half
      // moved.
      const query = queryOf({ where: facet('open', true) });
      await expect(readBatches(before, userId, query)).rejects.toThrow(OutdatedColumns);
      await expect(writeApi(dbOf(before)).createBatch(userId, newBatch(1))).rejects.toThrow(OutdatedColumns);
    });
    expect(interruptions).toBeGreaterThan(2);
    expect((await batchesAndJobs(client, tables, userId)).batches).toEqual(batches);
    const columns = Object.values(batch.columns).filter(isSummarized);
    expect(await summariesOf(userId)).toHaveLength(2 * columns.length);
    expect(await differencesOf(after, userId)).toEqual([]);
    await expectRightAnswers(after, userId, questions);
    if (notWritten.includes(change)) return;
    await writer.createBatch(userId, newBatch(1, { backend_configuration: 'text', jobs: [newJob(1)] }));
    await writer.createBatch(userId, newBatch(2, { device_status: 'status 4', open: true }));
    await writer.recordBatchStatus(userId, newBatch(2).id, { status: 'RUNNING' });
    expect(await differencesOf(after, userId)).toEqual([]);
    await expectRightAnswers(after, userId, questions);
  });
});

/**
 * Repairs by repairs that are interrupted after few writes, the first two of them to the heads.
 * After each either the batches are complete, or `check` is asked. Returns how many there were.
 */
async function repairPiecewise(userId: string, formats: OwnerFormats, check: () => Promise<void>): Promise<number> {
  const writesOfAttempts = deep ? [1, 9, 3, 12] : [1, 5, 3, 30];
  for (let interruptions = 0; ; interruptions++) {
    const interrupted = interruptedClient(client, writesOfAttempts[interruptions % writesOfAttempts.length]!);
    const repair = repairUser({ db: { ...dbOf(formats), client: interrupted }, userId }, { fix: true });
    const outcome = await repair.catch((error: Error) => error);
    if (!(outcome instanceof Error)) {
      expect(outcome.remaining).toEqual([]);
      return interruptions;
    }
    expect(outcome.message).toBe('interrupted');
    const { columns } = await ownerRows(client, tables, userId);
    if (columns['b#head']?.format === undefined) await check();
    else expect((await differencesOf(formats, userId)).filter(({ key }) => key.startsWith('b#'))).toEqual([]);
  }
}

it('refuses all events of an owner whose columns are of another description, for the reads of one', async () => {
  const after: OwnerFormats = { ...before, batch: changes['a further value of a facet']!.batch };
  const userId = await owner('write');
  const sound = await ownerRows(client, tables, userId);
  const counting = countingClient(client);
  const events = sound.batches.slice(0, 3).map(({ id }) =>
    LifecycleEvent.parse({
      ...{ id: `closing ${id}`, type: 'batch.updated', time: '2026-03-01T00:00:00Z', user_id: userId },
      data: { batch_id: id, open: false },
    }),
  );
  const errors = await writeApi({ ...dbOf(after), client: counting.client }).applyEvents(events);
  expect(errors.map((error) => error?.name)).toEqual(['OutdatedColumns', 'OutdatedColumns', 'OutdatedColumns']);
  // One event after the other would read as much for each.
  expect(counting.made).toHaveLength(1);
  expect(await ownerRows(client, tables, userId)).toEqual(sound);
});

describe('columns of an earlier layout', () => {
  // Projects are listed with as many texts in a block as the release has.
  const formats: OwnerFormats = {
    ...before,
    batch: { ...before.batch, textsPerBlock: ownerFormats.batch.textsPerBlock },
  };
  const questions: Question[] = [
    { where: facet('open', true), matches: (row) => row.open === true },
    { where: facet('started', true), matches: (row) => row.start_datetime !== null },
    { order: byColumn('start_datetime'), by: (row) => row.start_datetime as string | null },
    { where: facet('project_id', uuid('c', 2)), matches: (row) => row.project_id === uuid('c', 2) },
  ];

  it('are refused, and upgraded in place by a repair, interrupted or not; projects are listed all the time', async () => {
    const userId = 'earlier layout';
    const rows = storedBatches(userId).map((row) => ({ ...row, project_id: uuid('c', row.seq) }));
    await loadList(client, tables, { list: formats.batch, userId, rows });
    const { columns } = await ownerRows(client, tables, userId);
    const projects = [...new Set(rows.map(({ project_id }) => project_id))];
    // Heads had no blocks of texts, tails and blocks another layout.
    const { dictionary_blocks, ...head } = columns['b#head'] as unknown as StoredHead;
    const tail = Object.fromEntries(Object.keys(head.tail).map((key) => [key, Uint8Array.of(9, 9, 9, 9)]));
    const dictionaries = { ...head.dictionaries, project_id: projects };
    const items = Object.keys(columns).map((key) => ({ user_id: userId, key, v: Uint8Array.of(9, 9, 9, 9) }));
    for (const Item of [...items, { ...head, tail, dictionaries, format: 'XbrOGK6-' }]) {
      await client.send(new PutCommand({ TableName: tables.Columns, Item }));
    }
    const db = dbOf(formats);
    const read = (query: ListQuery) => readBatches(formats, userId, query);
    const writer = writeApi(db);
    const listed = async () => (await listProjects(db, userId, {} as Claims)).map(({ id }) => id);
    const check = async () => {
      for (const question of questions) await expect(read(queryOf(question))).rejects.toThrow(OutdatedColumns);
      expect(await listed()).toEqual(projects);
      expect((await read(queryOf({}))).total).toBe(rows.length);
      await expect(writer.createBatch(userId, newBatch(1))).rejects.toThrow(OutdatedColumns);
    };
    await check();
    await repairPiecewise(userId, formats, check);
    expect(await summariesOf(userId)).toHaveLength(10);
    for (let number = 1; number < 10; number++) {
      await writer.createBatch(userId, newBatch(number, { open: true, jobs: [newJob(number)] }));
      await writer.recordBatchStatus(userId, String(rows.at(-number)?.id), { device_status: `${number}` });
    }
    expect(await differencesOf(formats, userId)).toEqual([]);
    await expectRightAnswers(formats, userId, questions);
    expect(await listed()).toEqual(projects);
  });
});
