import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { bucketObjects } from '../../functions/data/aws/bucket-objects.ts';
import { listResultsKeys, readResults } from '../../functions/data/batches/batch-results.ts';
import { jobList } from '../../functions/data/columns/lists.ts';
import { CorruptData } from '../../functions/errors.ts';
import { maxBodyBytes } from '../../functions/http/reply.ts';
import type { LifecycleEvent } from '../../functions/schemas/lifecycle-event.ts';
import { fromMicroseconds } from '../../functions/values/timestamp.ts';
import { deep } from '../support/depth.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { commonHeaders, gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { heldPlaces } from '../support/held-places.ts';
import { type Call, interceptedClient } from '../support/intercepted-client.ts';
import { loadList } from '../support/load-list.ts';
import { loggedLines } from '../support/logged-lines.ts';
import { measuredClient } from '../support/measured-client.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { useOwnTimeoutsOfS3 } from '../support/own-time.ts';
import { pagedClient } from '../support/paged-client.ts';
import { startResultsStore } from '../support/results-store.ts';
import { testClient } from '../support/test-client.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const db = testDb(client, names);
const store = await startResultsStore();
afterAll(() => store.stop());
/** What S3 is asked for and never answers: only there the function waits as on AWS. */
let isStruck = (_path: string) => false;
vi.resetModules();
useOwnTimeoutsOfS3((path) => isStruck(path));
const { handler } = await import('../../functions/endpoints/batches/get-full-results.ts');

const passOn = store.handle;
const { applyEvents, createBatch } = writeApi(db);
const counter = { '000': 8, '001': 3 };
let batchNumber = 0;
let userId = '';
let batchId = '';
beforeEach(() => {
  store.requests.length = 0;
  store.handle = passOn;
  isStruck = () => false;
  userId = `auth0|alice ${++batchNumber}`;
  batchId = uuid('b', batchNumber);
});

const jobId = (number: number) => uuid('a', number);
const keyOf = (id: string) => `results/${userId}/${id}.json`;

/**
 * A batch with a job for each of the documents; of null there are no results, and of undefined no
 * object.
 */
async function createBatchOf(documents: readonly unknown[]) {
  await createBatch(userId, newBatch(batchNumber, { jobs: documents.map((_, at) => newJob(at)) }));
  const now = fromMicroseconds(Date.now() * 1000);
  const updates: LifecycleEvent[] = [];
  for (const [at, document] of documents.entries()) {
    if (document === null) continue;
    if (document !== undefined) await store.put(keyOf(jobId(at)), document);
    const data = { job_id: jobId(at), status: 'DONE' as const, results_key: keyOf(jobId(at)) };
    updates.push({ id: `done ${at}`, type: 'job.updated', time: now, user_id: userId, data });
  }
  expect((await applyEvents(updates)).filter(Boolean)).toEqual([]);
}

const found = (text: string) => ({
  status: 200,
  headers: { 'content-length': String(Buffer.byteLength(text)) },
  body: Buffer.from(text),
});

const ask = (user = userId, batch_id = batchId, query = '') =>
  handler(gatewayEvent('getFullResults', { userId: user, path: { batch_id }, query }), lambdaContext());

const askOf = (...jobIds: string[]) =>
  ask(userId, batchId, String(new URLSearchParams(jobIds.map((id): [string, string] => ['job_id', id]))));

async function dataOf(answer: ReturnType<typeof ask> | Awaited<ReturnType<typeof ask>>) {
  const { statusCode, body } = await answer;
  expect(statusCode).toBe(200);
  return JSON.parse(body).data;
}

describe('GET /api/v1/batches/{batch_id}/full_results', () => {
  it('answers with the documents of the jobs that have one, in creation order', async () => {
    await createBatchOf([{ counter }, null, { counter: { 1: 2 }, raw: ['1', '1'] }]);
    const event = gatewayEvent('getFullResults', { userId, path: { batch_id: batchId } });
    const { statusCode, headers, body } = await handler(event, lambdaContext());
    expect({ statusCode, headers }).toEqual({
      statusCode: 200,
      headers: commonHeaders(event),
    });
    const data = `{"${jobId(0)}":{"counter":{"000":8,"001":3}},"${jobId(2)}":{"counter":{"1":2},"raw":["1","1"]}}`;
    expect(body).toBe(`{"status":"success","message":"OK.","code":"200","data":${data}}`);
    expect(store.requests.toSorted()).toEqual([0, 2].map((at) => `GET ${keyOf(jobId(at))}`));
  });

  it('hands a document on as it is: numbers, the order of its members, spaces', async () => {
    const text = '\n{ "b": 1.50, "2": 12345678901234567890, "1": {"é": "\\u00e9"} }\n';
    await createBatchOf([text]);
    const { body } = await ask();
    expect(body).toContain(`{"${jobId(0)}":${text}}`);
  });

  it('answers with an empty object where no job has results', async () => {
    await createBatchOf([null, null]);
    expect(await dataOf(ask())).toEqual({});
    expect(store.requests).toEqual([]);
  });

  it('leaves out results that were never uploaded', async () => {
    await createBatchOf([{ counter }, undefined]);
    expect(await dataOf(ask())).toEqual({ [jobId(0)]: { counter } });
  });

  it('answers for another user’s batch byte for byte as for none, and asks S3 for nothing', async () => {
    await createBatchOf([{ counter }]);
    const foreign = await ask('auth0|mallory');
    const unknown = await ask('auth0|mallory', uuid('b', 999_999));
    expect([foreign.statusCode, unknown.statusCode]).toEqual([404, 404]);
    expect(foreign.body).toBe(unknown.body);
    expect(await ask(userId, jobId(0))).toMatchObject({ statusCode: 404, body: unknown.body });
    expect(store.requests).toEqual([]);
  });

  it('refuses what is no id, and no filter', async () => {
    const place = async (answer: ReturnType<typeof ask>) => {
      const { statusCode, body } = await answer;
      return [statusCode, JSON.parse(body).detail[0].loc];
    };
    expect(await place(ask(userId, 'x'))).toEqual([422, ['path', 'batch_id']]);
    expect(await place(askOf(jobId(0), 'x'))).toEqual([422, ['query', 'job_id', 1]]);
    expect(await place(askOf(''))).toEqual([422, ['query', 'job_id', 0]]);
    expect(await place(askOf(...Array(101).fill(jobId(0))))).toEqual([422, ['query', 'job_id']]);
  });

  it('answers with the results of the jobs that are named, in creation order', async () => {
    const other = { id: jobId(9), key: keyOf(jobId(9)) };
    await createBatchOf([{ counter }, null, { counter: { 1: 2 } }, { counter: { 1: 3 } }]);
    await createBatch(userId, newBatch(500_000 + batchNumber, { jobs: [newJob(9)] }));
    const data = { job_id: other.id, status: 'DONE' as const, results_key: other.key };
    const time = fromMicroseconds(Date.now() * 1000);
    await applyEvents([{ id: 'done elsewhere', type: 'job.updated', time, user_id: userId, data }]);
    await store.put(other.key, { counter });
    store.requests.length = 0;
    const named = [jobId(2), jobId(0).toUpperCase(), jobId(0), jobId(1), other.id, jobId(8)];
    const answer = await dataOf(askOf(...named));
    expect(Object.entries(answer)).toEqual([
      [jobId(0), { counter }],
      [jobId(2), { counter: { 1: 2 } }],
    ]);
    expect(store.requests.toSorted()).toEqual([0, 2].map((at) => `GET ${keyOf(jobId(at))}`));
    expect(await dataOf(askOf(other.id, jobId(8)))).toEqual({});
    expect((await ask('auth0|mallory', batchId, `job_id=${jobId(0)}`)).statusCode).toBe(404);
  });

  it.each([
    ['no JSON', '{"counter":'],
    ['empty', ''],
    ['a list', '[{"secret":1}]'],
    ['a text', '"secret"'],
    ['null', 'null'],
    ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['an object and more', '{"secret":1},"x":{}'],
  ])('leaves out a document that is %s, and logs its job', async (_, document) => {
    await createBatchOf([{ counter }, document, { counter }]);
    const [line] = await loggedLines(async () => {
      expect(await dataOf(ask())).toEqual({ [jobId(0)]: { counter }, [jobId(2)]: { counter } });
    });
    expect(line).toMatchObject({ unreadable_results: 1, jobs: [jobId(1)] });
    expect(line).not.toHaveProperty('missing_results');
  });

  it('reads nothing that lies among the results of another user', async () => {
    const key = 'results/auth0|bob/1.json';
    await store.put(key, { counter });
    const keys = new Map([[jobId(0), key]]);
    const reading = readResults(bucketObjects('results-bucket'), { userId: 'auth0|alice', keys, maxBytes: 1_000 });
    await expect(reading).rejects.toMatchObject({ name: 'CorruptData' });
    expect(store.requests).toEqual([]);
  });
});

describe('results that exceed one answer', () => {
  const ofLength = (length: number) => JSON.stringify({ raw: 'x'.repeat(length - '{"raw":""}'.length) });

  async function expectRefusal() {
    const { statusCode, body } = await ask();
    expect(statusCode).toBe(422);
    expect(JSON.parse(body).detail).toEqual([
      {
        loc: ['path', 'batch_id'],
        msg: expect.stringMatching(/fewer jobs by job_id, .*\/api\/v1\/jobs\/\{job_id\}\/results_link/),
        type: 'results_too_large',
      },
    ]);
  }

  it('are refused with a hint, and no more of them is read than needed', async () => {
    await createBatchOf(Array.from({ length: 60 }, () => undefined));
    store.handle = async (_, __, answer) => answer(found(ofLength(2 ** 20)));
    await expectRefusal();
    expect(store.requests.length).toBeLessThan(45);
  });

  it('are refused before they are read', async () => {
    await createBatchOf([undefined]);
    store.handle = async ({ response }) => {
      response.writeHead(200, { 'Content-Length': String(maxBodyBytes + 1) }).write('{');
    };
    await expectRefusal();
  });

  it('are refused where they exceed it only once they are escaped', async () => {
    await createBatchOf([JSON.stringify({ raw: '"'.repeat(2 * 2 ** 20) })]);
    await expectRefusal();
  });

  it('are answered up to the last byte that fits', async () => {
    const frame = { status: 'success', message: 'OK.', code: '200', data: { [jobId(0)]: { raw: '' } } };
    const length = maxBodyBytes - JSON.stringify(JSON.stringify(frame)).length + '{"raw":""}'.length;
    await createBatchOf([ofLength(length)]);
    expect((await dataOf(ask()))[jobId(0)].raw).toHaveLength(length - '{"raw":""}'.length);
    await store.put(keyOf(jobId(0)), ofLength(length + 1));
    await expectRefusal();
  });
});

describe('a batch of many jobs', () => {
  it('is answered, with a few reads of S3 at a time', async () => {
    await createBatch(userId, newBatch(batchNumber, { open: true }));
    const jobs = Array.from({ length: deep ? 5_000 : 150 }, (_, seq) => ({
      id: jobId(seq),
      parent_id: null,
      batch_id: batchId,
      project_id: uuid('c', 1),
      user_id: userId,
      status: 'DONE' as const,
      runs: 1,
      origin: 'CLIENT' as const,
      creation_order: seq,
      created_at: '2026-03-01T00:00:00.000000Z',
      updated_at: '2026-03-01T00:00:00.000000Z',
      start_timestamp: null,
      end_timestamp: null,
      variables: null,
      errors: null,
      results_key: keyOf(jobId(seq)),
      seq,
      rev: 1,
      written_at: {},
    }));
    await loadList(client, names, { list: jobList, userId, rows: jobs });
    // 32 are answered together: each answer is held until 32 are asked for, or all are.
    let [asked, most] = [0, 0];
    const held: (() => void)[] = [];
    store.handle = async (_, __, answer) => {
      asked++;
      held.push(() => answer(found(JSON.stringify({ counter }))));
      most = Math.max(most, held.length);
      if (held.length < 32 && asked < jobs.length) return;
      await delay(2);
      for (const each of held.splice(0)) each();
    };
    // The batch does not count these jobs: as where the index lags behind, they are read by their
    // ids, too.
    const data = await dataOf(ask());
    expect(Object.keys(data)).toEqual(jobs.map(({ id }) => id));
    expect(store.requests).toHaveLength(jobs.length);
    expect(most).toBe(32);

    store.requests.length = 0;
    // They end in an hour, however slow the machine is.
    const later = testDb(client, names, { now: () => Date.now() + 3_600_000 });
    const others = await heldPlaces(later, { userId, kind: 'downloads' }, 5);
    expect(await ask()).toMatchObject({ statusCode: 429, headers: { 'Retry-After': '5' } });
    expect(store.requests).toEqual([]);

    // Of one job, which needs no place: the batch, its row and its document.
    expect(await dataOf(askOf(jobId(140)))).toEqual({ [jobId(140)]: { counter } });
    expect(store.requests).toEqual([`GET ${keyOf(jobId(140))}`]);
    await others.end();
    const measured = testClient(String(process.env.AWS_ENDPOINT_URL_DYNAMODB));
    const { cost } = await measuredClient(measured)(() =>
      listResultsKeys({ ...db, client: measured }, { userId, batchId }, [jobId(140)]),
    );
    expect([cost.readUnits, cost.calls, cost.depth]).toEqual([2, 2, 1]);
  });
});

describe('listResultsKeys', () => {
  const isIndexRead = (call: Call) => call.input.IndexName !== undefined;

  it.each<[string, (items: Record<string, unknown>[]) => Record<string, unknown>[]]>([
    ['knows none of the jobs yet', () => []],
    [
      'holds their statuses of before',
      (items) => items.map((item) => ({ ...item, status: 'RUNNING', results_key: null })),
    ],
    ['misses a job', (items) => items.slice(1)],
  ])('finds all results although the index %s', async (_, before) => {
    await createBatchOf([undefined, undefined, null]);
    const lagging = interceptedClient(client, async (call) => {
      const output = await call.send();
      return isIndexRead(call) ? { ...output, Items: before(output.Items as Record<string, unknown>[]) } : output;
    });
    const keys = await listResultsKeys({ ...db, client: lagging }, { userId, batchId });
    expect([...(keys ?? [])]).toEqual([0, 1].map((at) => [jobId(at), keyOf(jobId(at))]));
  });

  it('follows the index from page to page', async () => {
    await createBatchOf([undefined, undefined, undefined, null, undefined]);
    const keys = await listResultsKeys({ ...db, client: pagedClient(client, 2) }, { userId, batchId });
    expect([...(keys?.keys() ?? [])]).toEqual([0, 1, 2, 4].map(jobId));
  });

  it('is refused where the set of the batch has lost jobs', async () => {
    await createBatchOf([undefined, undefined]);
    const lossy = interceptedClient(client, async (call) => {
      const output = await call.send();
      const isOfSet = JSON.stringify(call.input).includes('"j#B#');
      return isOfSet ? { ...output, Items: [] } : output;
    });
    await expect(listResultsKeys({ ...db, client: lossy }, { userId, batchId })).rejects.toThrow(CorruptData);
  });

  it('costs the batch, which jobs it has, and what the index holds of them', async () => {
    await createBatchOf([undefined, undefined, null]);
    const measured = testClient(String(process.env.AWS_ENDPOINT_URL_DYNAMODB));
    const measure = measuredClient(measured);
    const { cost } = await measure(() => listResultsKeys({ ...db, client: measured }, { userId, batchId }));
    expect([cost.readUnits, cost.depth]).toEqual([3.5, 2]);
  });
});

describe('a fault of S3', () => {
  const error =
    (status: number, code: string): typeof store.handle =>
    async (_, __, answer) =>
      answer({
        status,
        headers: { 'content-type': 'application/xml' },
        body: Buffer.from(`<Error><Code>${code}</Code><Message>injected</Message></Error>`),
      });
  const faults: Record<string, [number, typeof store.handle]> = {
    'an internal error': [500, error(500, 'InternalError')],
    'a slowdown': [429, error(503, 'SlowDown')],
    'a dropped connection': [504, async ({ response }) => void response.destroy()],
    'half a document': [
      500,
      async ({ response }, pass) => {
        const { status, headers, body } = await pass();
        response.writeHead(status, headers).write(body.subarray(0, body.length / 2));
        await delay(5);
        response.destroy();
      },
    ],
    'a document that stops on its way': [
      500,
      async ({ response }, pass) => {
        const { status, headers, body } = await pass();
        response.writeHead(status, headers).write(body.subarray(0, body.length / 2));
      },
    ],
    silence: [504, async () => undefined],
  };

  it.each(Object.entries(faults))('is not noticed where it passes: %s', async (_, [, fault]) => {
    await createBatchOf([{ counter }, { counter }]);
    let struck = false;
    isStruck = (path) => !struck && path.includes(jobId(1));
    store.handle = (request, ...rest) => {
      const does = isStruck(request.target) ? fault : passOn;
      struck ||= does === fault;
      return does(request, ...rest);
    };
    expect(await dataOf(ask())).toEqual({ [jobId(0)]: { counter }, [jobId(1)]: { counter } });
    expect(struck).toBe(true);
  });

  it('is counted once where a large document is read again', async () => {
    await createBatchOf([{ raw: 'x'.repeat(4 * 2 ** 20) }]);
    let struck = false;
    store.handle = (request, ...rest) => {
      const fault = struck ? passOn : faults['half a document']![1];
      struck = true;
      return fault(request, ...rest);
    };
    expect((await dataOf(ask()))[jobId(0)].raw).toHaveLength(4 * 2 ** 20);
  });

  it.each(Object.entries(faults))('is an honest failure where it lasts: %s', async (_, [status, fault]) => {
    await createBatchOf([{ counter }, { counter }]);
    isStruck = (path) => path.includes(jobId(1));
    store.handle = (request, ...rest) => (isStruck(request.target) ? fault : passOn)(request, ...rest);
    const { statusCode, body } = await ask();
    expect(statusCode).toBe(status);
    expect(body).not.toMatch(/injected|S3|000/);
  });

  it.each(['NoSuchBucket', 'InvalidAccessKeyId'])('that is a mistake of the deployment is a 500: %s', async (code) => {
    await createBatchOf([{ counter }]);
    store.handle = error(code === 'NoSuchBucket' ? 404 : 403, code);
    expect((await ask()).statusCode).toBe(500);
  });
});
