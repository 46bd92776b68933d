/**
 * What happens to stored data when a description changes: written under the old one, read and
 * written by the new code, then moved.
 */

import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { packColumn, unpackColumn } from '../../functions/data/columns/column-items.ts';
import type { Head } from '../../functions/data/columns/head.ts';
import { type ListDescription, withRowsPerBlock } from '../../functions/data/columns/list-description.ts';
import { batchList, type OwnerLists, ownerLists } from '../../functions/data/columns/lists.ts';
import { isSummarized } from '../../functions/data/columns/summary.ts';
import { lifecycle } from '../../functions/data/lifecycle/lifecycle.ts';
import type { Condition, ListQuery, Order } from '../../functions/data/lists/query.ts';
import { listReader } from '../../functions/data/lists/reader.ts';
import { listProjects } from '../../functions/data/projects.ts';
import { OutdatedColumns } from '../../functions/errors.ts';
import type { Claims } from '../../functions/schemas/claims.ts';
import { LifecycleEvent } from '../../functions/schemas/lifecycle-event.ts';
import { BatchStatus } from '../../functions/schemas/values.ts';
import type { TableNames } from '../../functions/tables.ts';
import { recount } from '../../infra/repair/recount.ts';
import { repairUser } from '../../infra/repair/repair-user.ts';
import { readSnapshot } from '../../infra/repair/snapshot.ts';
import { createTables } from '../support/create-tables.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { loadList, storedColumns } from '../support/load-list.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { ownerRows } from '../support/owner-rows.ts';
import { batchRows } from '../support/random-rows.ts';
import { testClient } from '../support/test-client.ts';

const client = testClient(dynamodbEndpoint);
const before = ownerLists(4);
const rowCount = 30;
let tables: TableNames;

beforeAll(async () => {
  tables = await createTables(client, `stored-format-${Date.now()}-`);
});

type Row = Record<string, unknown> & { readonly id: string; readonly seq: number };

/**
 * Batches as an earlier release stored them; some have the attributes that only the new description
 * names.
 */
function storedBatches(userId: string): Row[] {
  const [rows] = fc.sample(batchRows(userId, rowCount), { numRuns: 1, seed: 11 });
  return (rows ?? []).map((row, at) => ({
    ...row,
    written_at: {},
    jobs_count: 0,
    jobs_count_per_status: { ...row.jobs_count_per_status, DONE: 0 },
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
const withFacets = (facets: (typeof facetColumn)['facets'], rowDefaults = {}): ListDescription => ({
  ...before.batch,
  columns: { ...all, facets: { ...facetColumn, facets } },
  rowDefaults,
});

/**
 * For attributes that the schema of rows does not have: writers of a real release would store them.
 */
const notWritten = ['a facet of a field that older rows lack'];

/** Changes of the batches' description, and questions that only the new columns answer rightly. */
const changes: Readonly<Record<string, { readonly batch: ListDescription; readonly questions: readonly Question[] }>> =
  {
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

async function expectRightAnswers(lists: OwnerLists, userId: string, questions: readonly Question[]) {
  const read = listReader({ client, tables, list: lists.batch });
  const { batches } = await ownerRows(client, tables, userId);
  for (const question of questions) {
    for (const direction of ['ASC', 'DESC'] as const) {
      const query = queryOf(question, direction);
      const { items, total } = await read(userId, query);
      const answer = { ids: items.map((row) => row.id), total };
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

/** Whether the call mends something: the transactions that seal segments delete nothing. */
function isMend({ name, input }: Call): boolean {
  const parts = (input.TransactItems ?? []) as readonly { readonly Delete?: object }[];
  return /^(Put|Delete|Update)/.test(name) || parts.some(({ Delete }) => Delete !== undefined);
}

async function summariesOf(userId: string): Promise<string[]> {
  return Object.keys((await ownerRows(client, tables, userId)).columns).filter((key) => /^b#.#s#\d/.test(key));
}

async function differencesOf(lists: OwnerLists, userId: string) {
  return recount(lists, await readSnapshot({ client, tables, userId }, lists));
}

describe.each(Object.entries(changes))('%s', (change, { batch, questions }) => {
  const after: OwnerLists = { ...before, batch };

  it('is an error with its reason wherever old columns would be read, and nowhere else', async () => {
    const userId = await owner(`read ${change}`);
    const rows = storedBatches(userId);
    const read = listReader({ client, tables, list: batch });
    for (const question of questions) {
      await expect(read(userId, queryOf(question))).rejects.toThrow(OutdatedColumns);
      await expect(read(userId, queryOf(question))).rejects.toThrow(/npm run repair -- --fix/);
    }
    for (const direction of ['ASC', 'DESC'] as const) {
      const { items, total } = await read(userId, queryOf({}, direction));
      const answer = { ids: items.map((row) => row.id), total };
      expect(answer).toEqual(expected(rows, {}, queryOf({}, direction)));
    }
    const ids = rows.slice(0, 3).map((row) => row.id);
    expect((await read(userId, { ...queryOf({ where: { kind: 'ids', oneOf: ids } }), offset: 0 })).total).toBe(3);
  });

  it('keeps writers from everything until the repair', async () => {
    const userId = await owner(`write ${change}`);
    const sound = await ownerRows(client, tables, userId);
    const writer = lifecycle(client, tables, { lists: after });
    await expect(writer.createBatch(userId, newBatch(1))).rejects.toThrow(OutdatedColumns);
    await expect(writer.setTags(userId, String(sound.batches[3]?.id), ['new'])).rejects.toThrow(OutdatedColumns);
    let calls = 0;
    const counting = interceptedClient(client, (call) => {
      calls += 1;
      return call.send();
    });
    const events = sound.batches.slice(0, 3).map(({ id }) =>
      LifecycleEvent.parse({
        ...{ id: `closing ${id}`, type: 'batch.updated', time: '2026-03-01T00:00:00Z', user_id: userId },
        data: { batch_id: id, open: false },
      }),
    );
    const errors = await lifecycle(counting, tables, { lists: after }).applyEvents(events);
    expect(errors.map((error) => error?.name)).toEqual(['OutdatedColumns', 'OutdatedColumns', 'OutdatedColumns']);
    // One event after the other would read as much for each.
    expect(calls).toBe(2);
    expect(await ownerRows(client, tables, userId)).toEqual(sound);
  });

  it('is moved by a repair, after which readers and writers of the new description are right', async () => {
    const userId = await owner(`repair ${change}`);
    const { batches } = await ownerRows(client, tables, userId);
    const reported = await repairUser({ client, tables, userId }, { fix: false, lists: after });
    expect(reported.remaining).toContainEqual(expect.objectContaining({ kind: 'head', key: 'b#head' }));
    const { remaining } = await repairUser({ client, tables, userId }, { fix: true, lists: after });
    expect(remaining).toEqual([]);
    expect((await ownerRows(client, tables, userId)).batches).toEqual(batches);
    const columns = Object.values(batch.columns).filter(isSummarized);
    expect(await summariesOf(userId)).toHaveLength(2 * columns.length);
    expect(await differencesOf(after, userId)).toEqual([]);
    await expectRightAnswers(after, userId, questions);
    if (notWritten.includes(change)) return;
    const writer = lifecycle(client, tables, { lists: after });
    await writer.createBatch(userId, newBatch(1, { backend_configuration: 'text', jobs: [newJob(1)] }));
    await writer.createBatch(userId, newBatch(2, { device_status: 'status 4', open: true }));
    await writer.recordBatchStatus(userId, newBatch(2).id, { status: 'RUNNING' });
    expect(await differencesOf(after, userId)).toEqual([]);
    await expectRightAnswers(after, userId, questions);
  });

  it('never passes for complete when the repair was interrupted', async () => {
    const userId = await owner(`interrupt ${change}`);
    const ordinary = queryOf({ where: facet('open', true) });
    let interruptions = 0;
    for (let writes = 0; ; writes++) {
      let left = writes;
      const interrupted = interceptedClient(client, async (call) => {
        if (isMend(call) && left-- === 0) throw new Error('interrupted');
        return call.send();
      });
      // Each repair begins with the old columns, and gets one write further than the repair before
      // it.
      await owner(userId);
      const outcome = await repairUser({ client: interrupted, tables, userId }, { fix: true, lists: after }).catch(
        (error) => error,
      );
      if (!(outcome instanceof Error)) break;
      expect(outcome.message).toBe('interrupted');
      interruptions += 1;
      // Writes that were under way in parallel.
      await new Promise((wake) => setTimeout(wake, 50));
      for (const question of questions) {
        await expect(listReader({ client, tables, list: batch })(userId, queryOf(question))).rejects.toThrow(
          OutdatedColumns,
        );
      }
      if (writes === 0) continue;
      // The earlier release may still run, or run again: it must not use columns that are half
      // moved.
      await expect(listReader({ client, tables, list: before.batch })(userId, ordinary)).rejects.toThrow(
        OutdatedColumns,
      );
      await expect(lifecycle(client, tables, { lists: before }).createBatch(userId, newBatch(1))).rejects.toThrow(
        OutdatedColumns,
      );
    }
    expect(interruptions).toBeGreaterThan(0);
    expect(await differencesOf(after, userId)).toEqual([]);
    await expectRightAnswers(after, userId, questions);
  });
});

describe('columns of an earlier layout', () => {
  const lists = ownerLists();
  const questions: Question[] = [
    { where: facet('open', true), matches: (row) => row.open === true },
    { order: byColumn('start_datetime'), by: (row) => row.start_datetime as string | null },
    { order: byColumn('updated_at'), by: (row) => row.updated_at as string },
    { where: facet('project_id', uuid('c', 2)), matches: (row) => row.project_id === uuid('c', 2) },
  ];

  interface Layout {
    readonly format: string;
    /** Users of many projects had no tail, later as in the beginning. */
    readonly tail?: Head['tail'];
    readonly projects: number;
  }

  const layouts: Readonly<Record<string, Layout>> = {
    'before there were tails': { format: 'XbrOGK6-', projects: 3 },
    'of many texts, before there were tails': { format: 'XbrOGK6-', projects: 30 },
    'of many texts, all in the head': { format: '8nA5dQB0', tail: {}, projects: 30 },
  };

  /**
   * Every row was in blocks, and every text in the head. Blocks of times ended with the last that
   * is not null.
   */
  async function ownerBefore(userId: string, { projects, ...headBefore }: Layout) {
    const rows = storedBatches(userId).map((row) => ({ ...row, project_id: uuid('c', row.seq % projects) }));
    await loadList(client, tables, { list: lists.batch, userId, rows });
    // With one row more, which alone is in the tail, the blocks hold all others.
    const oneMore = { ...(rows.at(-1) as Row), seq: rows.length, tags: [] };
    const { head, blocks } = storedColumns({ ...lists.batch, rowsInTail: 1 }, [...rows, oneMore]);
    const put = (item: object) =>
      client.send(new PutCommand({ TableName: tables.Columns, Item: { user_id: userId, ...item } }));
    const { tail, ...withoutTail } = head;
    await put({ ...withoutTail, ...headBefore, key: 'b#head', next_seq: rows.length });
    const { columns } = await ownerRows(client, tables, userId);
    for (const key of Object.keys(columns).filter((each) => each.startsWith('b#texts#'))) {
      await client.send(new DeleteCommand({ TableName: tables.Columns, Key: { user_id: userId, key } }));
    }
    for (const [key, block] of blocks) {
      if (key.startsWith('b#texts#')) continue;
      const column = Object.values(lists.batch.columns).find((each) => key.startsWith(`b#${each.key}#`));
      const values = column === undefined ? [] : unpackColumn(column, block);
      const end = values.findLastIndex((value) => value !== null) + 1;
      const v = column?.kind === 'time' ? packColumn(column, values.slice(0, end)) : block;
      await put({ key, v });
    }
    return rows;
  }

  it.each(Object.entries(layouts))('%s, are refused, and upgraded in place by a repair', async (name, layout) => {
    const userId = name;
    const rows = await ownerBefore(userId, layout);
    const read = listReader({ client, tables, list: lists.batch });
    for (const question of questions) {
      await expect(read(userId, queryOf(question))).rejects.toThrow(OutdatedColumns);
    }
    expect((await read(userId, queryOf({}))).total).toBe(rows.length);
    const projects = [...new Set(rows.map(({ project_id }) => project_id))];
    const listed = async () => (await listProjects(client, tables)(userId, {} as Claims)).map(({ id }) => id);
    expect(await listed()).toEqual(projects);
    await expect(lifecycle(client, tables).createBatch(userId, newBatch(1))).rejects.toThrow(OutdatedColumns);

    for (let writes = 0; ; writes += 7) {
      let left = writes;
      const interrupted = interceptedClient(client, async (call) => {
        if (/^(Put|Delete)/.test(call.name) && left-- <= 0) throw new Error('interrupted');
        return call.send();
      });
      const repair = await repairUser({ client: interrupted, tables, userId }, { fix: true }).catch(String);
      if (typeof repair !== 'string') {
        expect(repair.remaining).toEqual([]);
        break;
      }
      // Writes that were under way in parallel.
      await new Promise((wake) => setTimeout(wake, 50));
      await expect(read(userId, queryOf(questions[0]!))).rejects.toThrow(OutdatedColumns);
      expect(await listed()).toEqual(projects);
    }
    await expectRightAnswers(lists, userId, questions);
    expect(await listed()).toEqual(projects);
    const writer = lifecycle(client, tables);
    for (let number = 1; number < 20; number++) {
      await writer.createBatch(userId, newBatch(number, { open: true, jobs: [newJob(number)] }));
      await writer.recordBatchStatus(userId, String(rows.at(-number)?.id), { device_status: `${number}` });
    }
    expect(await differencesOf(lists, userId)).toEqual([]);
    await expectRightAnswers(lists, userId, questions);
  });
});

describe('columns from before there were summaries', () => {
  const { started, ended, ...facets } = batchList.columns.facets.facets;
  const release: ListDescription = {
    ...batchList,
    columns: { ...batchList.columns, facets: { ...batchList.columns.facets, facets } },
  };
  /**
   * Facets did not tell whether a row has times. Segments are small here: rows enough for one
   * would take minutes.
   */
  const earlier = withRowsPerBlock(release, 4);
  const after: OwnerLists = ownerLists(4);
  const questions: Question[] = [
    { where: facet('started', true), matches: (row) => row.start_datetime !== null },
    { where: facet('status', 'DONE'), matches: (row) => row.status === 'DONE' },
    { order: byColumn('start_datetime'), by: (row) => row.start_datetime as string | null },
  ];

  async function ownerBefore(userId: string) {
    await loadList(client, tables, { list: earlier, userId, rows: storedBatches(userId) });
    const { columns } = await ownerRows(client, tables, userId);
    const Item = { ...columns['b#head'], format: '8nA5dQB0' };
    await client.send(new PutCommand({ TableName: tables.Columns, Item }));
  }

  it('are refused, and upgraded in place by a repair, interrupted or not', async () => {
    const userId = 'before summaries';
    for (let writes = 0; ; writes++) {
      await ownerBefore(userId);
      let left = writes;
      const interrupted = interceptedClient(client, async (call) => {
        if (isMend(call) && left-- === 0) throw new Error('interrupted');
        return call.send();
      });
      const repair = repairUser({ client: interrupted, tables, userId }, { fix: true, lists: after });
      const outcome = await repair.catch((error) => error);
      if (!(outcome instanceof Error)) break;
      expect(outcome.message).toBe('interrupted');
      await new Promise((wake) => setTimeout(wake, 50));
      for (const question of questions) {
        const read = listReader({ client, tables, list: after.batch });
        await expect(read(userId, queryOf(question))).rejects.toThrow(OutdatedColumns);
      }
      expect(await summariesOf(userId)).toEqual([]);
    }
    expect(await summariesOf(userId)).toHaveLength(10);
    expect(await differencesOf(after, userId)).toEqual([]);
    await expectRightAnswers(after, userId, questions);
  });
});

describe('a repair', () => {
  it('writes the new format only when every block is of it, also when one was changed meanwhile', async () => {
    const userId = await owner('changed meanwhile');
    const after: OwnerLists = { ...before, batch: changes['a further value of a facet']!.batch };
    let changed = false;
    const blocksLeft: number[] = [];
    const competing = interceptedClient(client, async (call) => {
      const item = (call.input.Item ?? {}) as Record<string, unknown>;
      if (call.name === 'PutCommand' && item.key === 'b#f#0000002' && !changed) {
        changed = true;
        await client.send(new PutCommand({ TableName: tables.Columns, Item: { ...item, v: Uint8Array.of(1) } }));
      }
      if (call.name === 'PutCommand' && item.format !== undefined) {
        blocksLeft.push((await differencesOf(after, userId)).filter(({ kind }) => kind === 'block').length);
      }
      return call.send();
    });
    const { remaining } = await repairUser({ client: competing, tables, userId }, { fix: true, lists: after });
    expect(remaining).toEqual([]);
    expect(blocksLeft).toEqual([0]);
  });
});
