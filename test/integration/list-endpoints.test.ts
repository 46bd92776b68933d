import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { batchList, jobList } from '../../functions/data/columns/lists.ts';
import { ValidationErrorBody } from '../../functions/schemas/error-body.ts';
import { type Job, ListedJob } from '../../functions/schemas/job.ts';
import { BatchStatus, JobStatus } from '../../functions/schemas/values.ts';
import { ask } from '../support/ask.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import type { GatewayRequest } from '../support/gateway-event.ts';
import { loadList } from '../support/load-list.ts';
import { batchRows, jobRows } from '../support/random-rows.ts';

const { client, names } = await functionEnvironment();

const owner = 'auth0|alice';
const sample = <Value>(rows: fc.Arbitrary<Value>, seed: number) => fc.sample(rows, { numRuns: 1, seed })[0] as Value;
const plainBatches = sample(batchRows(owner, 120), 1);
const batchIds = plainBatches.slice(0, 2).map(({ id }) => id);
const jobs = sample(jobRows(owner, batchIds, 150), 2);
const batches = plainBatches.map((batch, seq) => ({
  ...batch,
  open: seq % 3 === 0,
  jobs_count: jobs.filter((job) => job.batch_id === batch.id).length,
}));

beforeAll(async () => {
  await loadList(client, names, { list: batchList, userId: owner, rows: batches });
  await loadList(client, names, { list: jobList, userId: owner, rows: jobs });
});

async function list(route: 'listBatches' | 'listJobs', query: GatewayRequest['query'] = {}, userId = owner) {
  const { status, headers, ...answer } = await ask(route, { userId, query });
  return { status, headers, answer, ids: answer.data.map?.(({ id }: { id: string }) => id) as string[] };
}

const newestFirst = (rows: readonly { id: string }[]) => rows.map(({ id }) => id).reverse();

describe.each([
  ['listBatches', batches],
  ['listJobs', jobs],
] as const)('%s', (route, rows) => {
  it('answers with the newest 100, and where they are in the whole', async () => {
    const { status, headers, answer, ids } = await list(route);
    const total = rows.length;
    expect(status).toBe(200);
    expect(answer).toMatchObject({ message: 'OK.', code: '200' });
    expect(answer.pagination).toEqual({ total, start: 0, end: 100 });
    expect(headers).toMatchObject({
      'Content-Range': `1-100/${total}`,
      'Access-Control-Expose-Headers': 'Content-Range',
    });
    expect(ids).toEqual(newestFirst(rows).slice(0, 100));
  });

  it('names parameters that it ignores', async () => {
    const { headers, ids } = await list(route, 'limits=7&q=sweep&limit=3');
    expect(ids).toEqual(newestFirst(rows).slice(0, 3));
    expect(headers).toMatchObject({
      'X-Unknown-Parameters': 'limits;near=limit, q',
      'Access-Control-Expose-Headers': 'Content-Range, X-Unknown-Parameters',
    });
  });

  it('walks all pages to exactly the whole, by `end`', async () => {
    const seen: string[] = [];
    for (let offset = 0, pages = 0; pages < 20; pages++) {
      const { answer, ids } = await list(route, `limit=17&offset=${offset}`);
      expect(answer.pagination.start).toBe(offset);
      seen.push(...ids);
      offset = answer.pagination.end;
      if (offset >= answer.pagination.total) break;
    }
    expect(seen).toEqual(newestFirst(rows));
  });

  it('counts by status instead, what passes the filters', async () => {
    const count = (matching: readonly { status: string }[]) => {
      const statuses = route === 'listBatches' ? BatchStatus.options : JobStatus.options;
      const of = (status: string) => matching.filter((row) => row.status === status).length;
      return Object.fromEntries(statuses.map((status) => [status, of(status)]));
    };
    for (const [query, matching] of [
      ['count_by=status&limit=1&offset=9', rows],
      ['count_by=status&status=DONE', rows.filter(({ status }) => status === 'DONE')],
      ['count_by=status&user_id=others', []],
      [`count_by=status&id=${rows[3]!.id}`, [rows[3]!]],
    ] as const) {
      const { status, headers, answer } = await list(route, query);
      expect(status).toBe(200);
      expect(answer.data).toEqual([]);
      expect(answer.pagination).toEqual({ total: matching.length, start: 0, end: 0, counts: count(matching) });
      expect(headers).toMatchObject({ 'Content-Range': `*/${matching.length}` });
    }
    expect((await list(route, 'count_by=id')).status).toBe(422);
  });

  it.each(['9000', '9007199254740991'])('answers with an empty page beyond the end: offset=%s', async (offset) => {
    const { status, headers, answer } = await list(route, { offset });
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'Content-Range': `*/${rows.length}` });
    expect(answer.data).toEqual([]);
    expect(answer.pagination).toEqual({ total: rows.length, start: Number(offset), end: Number(offset) });
  });

  it('reports every fault at once, with its place in an array', async () => {
    const { status, answer } = await list(route, 'limit=0&offset=x&status=DONE&status=done&id=1&order_by=x');
    expect(status).toBe(422);
    expect(answer).toMatchObject({ message: 'Unprocessable Entity', code: '422' });
    const { data, detail } = ValidationErrorBody().parse({ status: 'fail', ...answer });
    expect(data.description).toEqual(detail);
    expect(detail.map(({ loc, type }) => [...loc, type])).toEqual([
      ['query', 'order_by', 'enum'],
      ['query', 'limit', 'greater_than'],
      ['query', 'offset', 'int_parsing'],
      ['query', 'id', 0, 'uuid_parsing'],
      ['query', 'status', 1, 'enum'],
    ]);
  });

  it('takes a value given twice, in whatever spelling, as given once', async () => {
    const [first, second] = rows.map(({ id }) => id);
    const query = {
      id: [first ?? '', second ?? '', first?.toUpperCase() ?? '', `{${first}}`],
      status: ['DONE', 'DONE'],
    };
    const { status, ids } = await list(route, { ...query, order_by_direction: 'ASC' });
    expect(status).toBe(200);
    const done = rows.slice(0, 2).filter(({ status }) => status === 'DONE');
    expect(ids).toEqual(done.map(({ id }) => id));
    expect((await list(route, { id: query.id })).answer.pagination.total).toBe(2);
  });

  it('ignores parameters that it does not know', async () => {
    expect((await list(route, 'colour=red&limit[]=0&__proto__=1&constructor=2')).answer.pagination.total).toBe(
      rows.length,
    );
  });
});

describe('listBatches', () => {
  it('shows every field of a batch and no other', async () => {
    const [row] = batches;
    const { answer } = await list('listBatches', { id: row?.id ?? '' });
    const { seq, rev, written_at, ...shown } = row as NonNullable<typeof row>;
    expect(answer.data).toEqual([{ ...shown, complete: !shown.open, user_name: null }]);
  });

  it('takes complete as the opposite of open, and says that it is deprecated', async () => {
    const closed = batches.filter(({ open }) => !open);
    const { headers, answer } = await list('listBatches', 'complete=True');
    expect(answer.pagination.total).toBe(closed.length);
    expect(headers).toMatchObject({
      Deprecation: expect.stringMatching(/^@\d+$/),
      Link: expect.stringContaining('rel="deprecation"'),
    });
    const { headers: plain, answer: open } = await list('listBatches', 'open=0');
    expect(open.pagination.total).toBe(closed.length);
    expect(plain).not.toHaveProperty('Deprecation');
  });

  it('matches nothing where complete and open contradict each other', async () => {
    expect((await list('listBatches', 'complete=1&open=1')).answer).toMatchObject({
      data: [],
      pagination: { total: 0 },
    });
    expect((await list('listBatches', 'complete=0&open=1')).answer.pagination.total).toBe(40);
  });
});

describe('listJobs', () => {
  it('takes a batch given twice as given once', async () => {
    const [batchId = ''] = batchIds;
    const once = await list('listJobs', { batch_id: batchId });
    expect((await list('listJobs', { batch_id: [batchId, batchId] })).answer).toEqual(once.answer);
  });

  it('shows every field of a job, never its result', async () => {
    const [row] = jobs;
    const { answer } = await list('listJobs', { id: row?.id ?? '' });
    expect(Object.keys(answer.data[0]).sort()).toEqual(Object.keys(ListedJob().shape).sort());
    expect(answer.data[0]).toMatchObject({ id: row?.id, batch_id: row?.batch_id, creation_order: row?.creation_order });
  });

  it('walks the jobs of a batch in their order, as clients do', async () => {
    const [batchId = ''] = batchIds;
    const ofBatch = jobs.filter((job) => job.batch_id === batchId).length;
    for (const order_by of ['creation_order', 'ordered_id']) {
      const query = { batch_id: batchId, order_by, order_by_direction: 'ASC', limit: '100' };
      const orders = (await list('listJobs', query)).answer.data.map((job: Job) => job.creation_order);
      expect(orders).toEqual(Array.from({ length: ofBatch }, (_, order) => order));
    }
  });
});

describe('listBatches by tags', () => {
  it('has the batches with one of them', async () => {
    const query = 'tag=calibration&tag=nightly&tag=none';
    const { ids } = await list('listBatches', query);
    const tagged = batches.filter(({ tags }) => tags.includes('calibration') || tags.includes('nightly'));
    expect(ids).toEqual(newestFirst(tagged).slice(0, 100));
    expect(tagged.length).toBeLessThan(batches.length);
  });
});
