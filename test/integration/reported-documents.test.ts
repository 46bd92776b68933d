/**
 * Results within the report: what is stored, what is refused, and what calls that meet each other,
 * are repeated or fail leave behind.
 */

import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { bucketObjects } from '../../functions/data/aws/bucket-objects.ts';
import { maxReportedBytes } from '../../functions/schemas/lease.ts';
import { ask } from '../support/ask.ts';
import { failures, mistakes } from '../support/faults.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import type { GatewayRequest } from '../support/gateway-event.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { startResultsStore } from '../support/results-store.ts';
import { seed } from '../support/seed.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { struckClient } from '../support/strike-each.ts';
import { testDb } from '../support/test-db.ts';
import { workerStack } from '../support/worker-stack.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
/** The clock is stopped: real leases last for a minute, and a test may take longer. */
vi.useFakeTimers({ toFake: ['Date'] });
const sink = await startMessageSink();
const results = await startResultsStore();
afterAll(() => Promise.all([sink.stop(), results.stop()]));

const passes = results.handle;
beforeEach(() => {
  results.handle = passes;
  results.requests.length = 0;
});

const device = (
  route: 'claimBatch' | 'reportJob' | 'releaseLease' | 'nextJob' | 'extendLease',
  request: GatewayRequest,
) => ask(route, { userId: 'machine', scope: 'device:*', ...request });

/** A batch of a user and for a device that no other test has, and its first lease. */
async function held({ jobs = [{}] }: { readonly jobs?: readonly object[] } = {}) {
  const [userId, device_type] = [`auth0|${randomUUID()}`, `D-${randomUUID()}`];
  const body = { project_id: randomUUID(), device_type, sequence_builder: sequenceText(), jobs };
  const { data: batch } = await ask('createBatch', { userId, body });
  const ids: string[] = batch.jobs.map(({ id }: { id: string }) => id);
  return { userId, device_type, batch, ids, lease: await claim(device_type) };
}

async function claim(device_type: string): Promise<string> {
  return (await device('claimBatch', { path: { device_type }, body: { worker: 'lab 1' } })).data.lease;
}

/** A report whose document is this text. */
const report = (lease: string, job_id: string, document: string, status = 'DONE') =>
  device('reportJob', { path: { lease, job_id }, body: `{"status":"${status}","results_document":${document}}` });

/** What the user reads of a job: its status, and the text of its results. */
async function read(userId: string, job_id: string) {
  const { data } = await ask('getJob', { userId, path: { job_id } });
  const link = await ask('getResultsLink', { userId, path: { job_id } });
  const url = link.data?.results_link;
  return { status: data.status, text: url ? await (await fetch(url)).text() : null };
}

const keyOf = (userId: string, jobId: string, { fence = 1, text }: { fence?: number; text: string }) =>
  `results/${userId}/${jobId}/${fence}/${createHash('sha256').update(text).digest('hex')}.json`;

/** Whether an object lies under the key. */
const isStored = async (key: string) => (await results.files.read(`results-bucket/${key}`)) !== undefined;

const [one, two] = ['{"counter":{"01":1}}', '{"counter":{"01":2}}'] as [string, string];

describe('a report with a document', () => {
  it.each([
    [
      'numbers, spaces, orders and names',
      '{ "counter": {"10": 1e0, "01":2.0},\n "b":12345678901234567890, "__proto__":{"a":"é\\u0000😀"}}',
    ],
    ['no counter', '{}'],
  ])('stores it as it was sent, by one call of S3: %s', async (_, text) => {
    const { userId, batch, ids, lease } = await held();
    const answer = await report(lease, ids[0]!, ` ${text} `);
    expect(answer).toMatchObject({ status: 200, data: { job: null, done: true } });
    expect(results.requests).toEqual([`PUT ${keyOf(userId, ids[0]!, { text })}`]);
    expect(await read(userId, ids[0]!)).toEqual({ status: 'DONE', text });
    const full = await ask('getFullResults', { userId, path: { batch_id: batch.id } });
    expect(full.data[ids[0]!]).toEqual(JSON.parse(text));
  });

  it('may be of a job that an event has started before its turn', async () => {
    const { userId, ids, lease } = await held({ jobs: [{}, {}] });
    await writeApi(testDb(client, names)).recordJobStatus(userId, ids[1]!, { status: 'RUNNING' });
    expect((await report(lease, ids[1]!, two)).status).toBe(409);
    expect(results.requests).toEqual([]);
    expect((await report(lease, ids[0]!, one)).data.job.id).toBe(ids[1]);
    expect((await report(lease, ids[1]!, two)).status).toBe(200);
    expect(await read(userId, ids[1]!)).toEqual({ status: 'DONE', text: two });
  });

  it('may be of a job that failed', async () => {
    const { userId, ids, lease } = await held();
    expect((await report(lease, ids[0]!, one, 'ERROR')).status).toBe(200);
    expect(await read(userId, ids[0]!)).toEqual({ status: 'ERROR', text: one });
  });

  it('counts the shots of a job without runs, and of no other', async () => {
    const { userId, ids, lease } = await held({ jobs: [{}, { runs: 5 }, {}, {}] });
    for (const [at, text] of [
      '{"counter":{"0":8,"1":3}}',
      '{"counter":{"0":7}}',
      '{"counter":{"0":0.5}}',
      '{}',
    ].entries()) {
      expect((await report(lease, ids[at]!, text)).status).toBe(200);
    }
    const { data } = await ask('listUsage', { userId });
    expect(data.total).toMatchObject({ jobs: 4, shots: 8 + 3 + 5 });
    expect(results.requests.map((request) => request.slice(0, 4))).toEqual(['PUT ', 'PUT ', 'PUT ', 'PUT ']);
  });

  it('takes an object of 1 MB to the byte, and names the place of a larger one', async () => {
    const { userId, ids, lease } = await held();
    const documentOf = (bytes: number) => `{"raw":"${'é'.repeat((bytes - 10) / 2)}"}`;
    const [largest, larger] = [documentOf(maxReportedBytes), `${documentOf(maxReportedBytes).slice(0, -1)} }`];
    expect([Buffer.byteLength(largest), Buffer.byteLength(larger)]).toEqual([1_048_576, 1_048_577]);
    expect(await report(lease, ids[0]!, larger)).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'results_document'], type: 'bytes_too_long' }],
    });
    expect((await report(lease, ids[0]!, documentOf(4 * maxReportedBytes))).status).toBe(413);
    expect(results.requests).toEqual([]);
    expect((await report(lease, ids[0]!, largest)).status).toBe(200);
    expect((await read(userId, ids[0]!)).text === largest).toBe(true);
  });

  it.each([
    ['a text', '"{}"', 'dict_type', ['results_document']],
    ['a list', '[{}]', 'dict_type', ['results_document']],
    ['a number', '1', 'dict_type', ['results_document']],
    ['the link’s flag as well', '{},"results":true', 'value_error', ['results_document']],
    ['more than 100 levels', `{"a":${'['.repeat(99)}${']'.repeat(99)}}`, 'too_deep', []],
    ['half of an object', '{"a":', 'json_invalid', []],
  ])('is refused, and stores nothing, where it is %s', async (_, document, type, place) => {
    const { ids, lease } = await held();
    const answer = await report(lease, ids[0]!, document);
    expect(answer).toMatchObject({ status: 422, detail: [{ loc: ['body', ...place], type }] });
    expect(results.requests).toEqual([]);
    expect((await report(lease, ids[0]!, 'null')).status).toBe(200);
    expect(results.requests).toEqual([]);
  });

  it('can be repeated: the first document stays, and nothing is stored again', async () => {
    const { userId, ids, lease } = await held({ jobs: [{}, {}] });
    const answer = await report(lease, ids[0]!, one);
    expect(answer.data.job.id).toBe(ids[1]);
    for (const text of [one, two]) {
      expect(await report(lease, ids[0]!, text)).toMatchObject({ status: 200, data: answer.data });
    }
    expect((await report(lease, ids[0]!, two, 'ERROR')).status).toBe(409);
    const last = await report(lease, ids[1]!, two);
    expect(await report(lease, ids[1]!, one)).toMatchObject({ status: 200, data: last.data });
    expect(await read(userId, ids[0]!)).toEqual({ status: 'DONE', text: one });
    expect(await read(userId, ids[1]!)).toEqual({ status: 'DONE', text: two });
    expect(results.requests).toHaveLength(2 + 2);
  });
});

describe('a document of a worker that has lost its lease', () => {
  it('is not stored, and the report refused', async () => {
    const { userId, device_type, ids, lease: lost } = await held();
    await device('releaseLease', { path: { lease: lost } });
    expect((await report(lost, ids[0]!, one)).status).toBe(409);
    const lease = await claim(device_type);
    expect((await report(lost, ids[0]!, one)).status).toBe(409);
    expect(results.requests).toEqual([]);
    expect((await report(lease, ids[0]!, two)).status).toBe(200);
    expect((await report(lost, ids[0]!, one)).status).toBe(409);
    expect(await read(userId, ids[0]!)).toEqual({ status: 'DONE', text: two });
  });

  it.each(['before', 'after'])(
    'replaces nothing where the lease is lost while it is stored, %s the other',
    async (when) => {
      const { userId, device_type, ids, lease: lost } = await held();
      let fence = 0;
      results.handle = async (_, pass, answer) => {
        results.handle = passes;
        const early = when === 'before' ? await pass() : undefined;
        await device('releaseLease', { path: { lease: lost } });
        const lease = await claim(device_type);
        fence = JSON.parse(Buffer.from(lease, 'base64url').toString())[2];
        expect((await report(lease, ids[0]!, two)).status).toBe(200);
        answer(early ?? (await pass()));
      };
      expect((await report(lost, ids[0]!, one)).status).toBe(409);
      expect(fence).toBeGreaterThan(1);
      expect(await isStored(keyOf(userId, ids[0]!, { text: one }))).toBe(true);
      expect(await isStored(keyOf(userId, ids[0]!, { fence, text: two }))).toBe(true);
      expect(await read(userId, ids[0]!)).toEqual({ status: 'DONE', text: two });
    },
  );

  it('leaves one document where two reports of one lease meet, whichever is the first', async () => {
    const { userId, ids, lease } = await held({ jobs: [{}, {}] });
    const texts = Array.from({ length: 6 }, (_, at) => `{"counter":{"01":${at}}}`);
    const answers = await Promise.all(texts.map((text) => report(lease, ids[0]!, text)));
    for (const { status, data } of answers) {
      expect(status).toBe(200);
      expect(data).toEqual(answers[0]!.data);
    }
    const { text } = await read(userId, ids[0]!);
    expect(texts).toContain(text);
    expect((await report(lease, ids[0]!, one)).status).toBe(200);
    expect(await read(userId, ids[0]!)).toEqual({ status: 'DONE', text });
  });
});

describe('a document of a refused report', () => {
  it('is not stored for a job that does not run, of another batch, or of none', async () => {
    const { device_type, userId, ids, lease } = await held({ jobs: [{}, {}] });
    const other = await held();
    expect((await report(lease, ids[1]!, one)).status).toBe(409);
    for (const unknown of [other.ids[0]!, randomUUID()]) expect((await report(lease, unknown, one)).status).toBe(404);
    expect((await report(other.lease, ids[0]!, one)).status).toBe(404);
    const scope = `device:${device_type} device:${device_type}2`;
    const path = { lease: other.lease, job_id: other.ids[0]! };
    const body = { status: 'DONE', results_document: {} };
    expect((await device('reportJob', { path, body, scope })).status).toBe(403);
    const [type, key, fence, owner] = JSON.parse(Buffer.from(lease, 'base64url').toString());
    for (const made of [
      [type, key, fence + 1, owner],
      [type, key, fence, other.userId],
      [type, `${String(key).slice(0, -36)}${randomUUID()}`, fence, owner],
    ]) {
      const forged = Buffer.from(JSON.stringify(made)).toString('base64url');
      expect((await report(forged, ids[0]!, one)).status).toBe(409);
    }
    expect(results.requests).toEqual([]);
    expect((await ask('getResultsLink', { userId, path: { job_id: ids[0]! } })).data.results_link).toBeNull();
  });

  it('is shown to nobody where the job was canceled meanwhile, and goes when the batch is erased', async () => {
    const { userId, batch, ids, lease } = await held({ jobs: [{}, {}] });
    results.handle = async (_, pass, answer) => {
      results.handle = passes;
      await ask('cancelJob', { userId, path: { job_id: ids[0]! } });
      answer(await pass());
    };
    expect((await report(lease, ids[0]!, one)).status).toBe(409);
    expect(await read(userId, ids[0]!)).toEqual({ status: 'CANCELED', text: null });
    expect(await isStored(keyOf(userId, ids[0]!, { text: one }))).toBe(true);
    expect((await report(lease, ids[1]!, two)).status).toBe(409);
    expect((await device('nextJob', { path: { lease } })).data.job.id).toBe(ids[1]);
    expect((await report(lease, ids[1]!, two)).status).toBe(200);
    expect((await ask('eraseBatch', { userId, path: { batch_id: batch.id } })).status).toBe(200);
    expect(await isStored(keyOf(userId, ids[0]!, { text: one }))).toBe(false);
    expect(await isStored(keyOf(userId, ids[1]!, { text: two }))).toBe(false);
  });
});

describe('a report with a document that is interrupted', () => {
  it('by S3 ends no job, and can be repeated', async () => {
    const { userId, ids, lease } = await held();
    results.handle = async (_, __, answer) => answer({ status: 500, headers: {}, body: Buffer.from('') });
    expect((await report(lease, ids[0]!, one)).status).toBe(500);
    expect(await read(userId, ids[0]!)).toEqual({ status: 'RUNNING', text: null });
    results.handle = passes;
    expect((await report(lease, ids[0]!, one)).status).toBe(200);
    expect(await read(userId, ids[0]!)).toEqual({ status: 'DONE', text: one });
  });

  it('by S3 after it has stored the document is repeated by itself', async () => {
    const { userId, ids, lease } = await held();
    results.handle = async ({ response }, pass) => {
      results.handle = passes;
      await pass();
      response.destroy();
    };
    expect((await report(lease, ids[0]!, one)).status).toBe(200);
    expect(await read(userId, ids[0]!)).toEqual({ status: 'DONE', text: one });
  });

  it('by DynamoDB, at any call, never leaves a job without its document, and can be repeated', async () => {
    const callObject = bucketObjects('results-bucket');
    const clock = { now: Date.now() };
    const sound = workerStack(client, names, clock, callObject);
    const faults = Object.entries({ ...failures, ...mistakes });
    for (let place = 0, struck = 1; struck > 0; place++) {
      const [name, fault] = faults[(seed + place) % faults.length]!;
      const strike = struckClient(client, { place, name, fault });
      const { user, batch, lease } = await sound.held({ jobs: 2 });
      const jobId = batch.jobs![0]!.id;
      const reported = { status: 'DONE', results_document: one };
      await workerStack(strike.client, names, clock, callObject)
        .report(lease, jobId, reported)
        .catch(() => undefined);
      struck = strike.struck;
      const key = keyOf(user, jobId, { text: one });
      const before = await sound.jobRow(lease, jobId);
      expect(before?.results_key).toBe(before?.status === 'DONE' ? key : null);
      if (before?.results_key) expect(await isStored(key)).toBe(true);
      expect((await sound.report(lease, jobId, reported)).job?.id).toBe(batch.jobs![1]!.id);
      expect(await sound.jobRow(lease, jobId)).toMatchObject({ status: 'DONE', results_key: key });
      expect(await isStored(key)).toBe(true);
    }
  });
});
