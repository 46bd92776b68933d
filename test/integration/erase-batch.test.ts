/**
 * Erasing batches: a marker is in every field that a user or a machine can fill. Afterwards it is
 * in no item of any table and in no object, and everything else is as it was.
 */

import { createHash, randomUUID } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { resultsBucket } from '../../functions/data/aws/results-bucket.ts';
import { eraseBatch, finishErasure } from '../../functions/data/batches/erasures.ts';
import { putDelivery, putWebhookAttempt } from '../../functions/data/webhooks/webhook-attempts.ts';
import type { BatchRow } from '../../functions/schemas/batch.ts';
import type { JobRow } from '../../functions/schemas/job.ts';
import type { LifecycleEvent } from '../../functions/schemas/lifecycle-event.ts';
import { fromMilliseconds } from '../../functions/values/timestamp.ts';
import { deep } from '../support/depth.ts';
import { dyingClient } from '../support/dying-client.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { loadHandlers } from '../support/handlers.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { ownerRows, recountOf } from '../support/owner-rows.ts';
import { startResultsStore } from '../support/results-store.ts';
import { deviceContent, sequenceText } from '../support/sequence-text.ts';
import { sqsEvent } from '../support/sqs-event.ts';
import { testDb } from '../support/test-db.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const sink = await startMessageSink();
const results = await startResultsStore();
vi.stubEnv('WEBHOOK_REACH', 'loopback');
afterAll(() => Promise.all([sink.stop(), results.stop()]));
const handlers = await loadHandlers([
  'createBatch',
  'addJobs',
  'eraseBatch',
  'getBatch',
  'getJob',
  'getBatchStatus',
  'getResultsLink',
  'getFullResults',
  'listBatches',
  'listJobs',
  'setTags',
  'rebatch',
  'closeBatch',
  'cancelBatch',
  'cancelJobs',
]);
const { handler: recover } = await import('../../functions/consumers/recover-batches.ts');

const db = testDb(client, names);
const bucket = resultsBucket('results-bucket');
const writer = writeApi(db);
const anotherMarker = 'marker-of-another-batch';
let user: string;
let marker: string;
beforeEach(() => {
  marker = `planted-${randomUUID()}`;
  user = `auth0|${randomUUID()}`;
  sink.messages.length = 0;
});

type Name = keyof typeof handlers;
async function call(name: Name, request: { path?: Record<string, string>; [part: string]: unknown }, userId = user) {
  const answer = await handlers[name](gatewayEvent(name, { userId, ...request } as never), lambdaContext());
  const { data } = JSON.parse(answer.body);
  return { status: answer.statusCode, reason: data.reason as string | undefined, data };
}
const of = (batch_id: string) => ({ path: { batch_id } });

/** Where the text is found: in items of any table, in names and content of objects. */
async function placesOf(text: string): Promise<string[]> {
  const places: string[] = [];
  for (const [table, TableName] of Object.entries(names)) {
    const { Items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
    for (const item of Items) {
      const plain = JSON.stringify(item, (_, value) => (value instanceof Uint8Array ? textOf(value, table) : value));
      if (plain.includes(text)) places.push(`${table} ${plain.slice(0, 150)}`);
    }
  }
  for (const file of await results.files.list('')) {
    const object = await results.files.read(file);
    if (file.includes(text) || object?.content.includes(text)) places.push(file);
  }
  return places;
}

function textOf(bytes: Uint8Array, table: string): string {
  return (table === 'Sequences' ? gunzipSync(bytes) : Buffer.from(bytes)).toString('latin1');
}

const sequenceOf = (text: string) =>
  sequenceText({ device: deviceContent(text), variables: { [text]: { type: 'float', value: [0] } } });

const deliveryWith = (reason: string) =>
  ({
    type: 'webhook.test',
    job_id: null,
    attempt: 1,
    sent_at: later(0),
    duration_ms: 1,
    status: null,
    reason,
  }) as const;

/** More jobs than a part of an erasure, and than a transaction, takes; and fewer. */
const many = 110;
const few = deep ? many : 4;

/** A batch by calls of a user, and reports and attempts, with the text wherever one can be. */
async function plant(text: string, added = few): Promise<{ batch: string; jobs: string[] }> {
  const content = {
    project_id: uuid('c', 1),
    device_type: 'FRESNEL',
    sequence_builder: sequenceOf(text),
    tags: [text, 'common'],
    webhook: `https://${text}.example/`,
    configuration: { [text]: text },
    backend_configuration: text,
    open: true,
    jobs: [{ variables: { [text]: 1 } }, { sequence: sequenceOf(text) }],
  };
  const key = (name: string) => ({ 'Idempotency-Key': `${name} ${text}` });
  const { data } = await call('createBatch', { headers: key('create'), body: content });
  const more = Array.from({ length: added }, () => ({ variables: { [text]: 2 } }));
  expect(await call('addJobs', { ...of(data.id), headers: key('add'), body: more })).toMatchObject({ status: 200 });
  const { jobs } = await ownerRows(client, names, user);
  const ids = jobs.filter(({ batch_id }) => batch_id === data.id).map(({ id }) => id);
  for (const [at, id] of ids.slice(0, added === many ? 12 : 4).entries()) {
    const results_key = at % 2 === 0 ? `results/${user}/${id}/0/${text}.json` : `results/${user}/${text}${at}.json`;
    for (const version of [1, 2]) await results.put(results_key, { [text]: version });
    await writer.recordJobStatus(user, id, { status: 'ERROR', errors: [text], results_key });
  }
  // Uploaded under a lease that was lost: no row names it.
  await results.put(`results/${user}/${ids.at(-1)}/3/lost.json`, { [text]: 1 });
  await writer.recordBatchStatus(user, data.id, { status: 'TIMED_OUT', device_status: text });
  const attempt = { outcome: 'RETRYING', reason: text, type: null, job_id: null, attempts: 1 } as const;
  const delivery = deliveryWith(text);
  const stored = { ...attempt, attempted_at: data.created_at, next_attempt_at: null };
  await putWebhookAttempt(db, { user_id: user, batch_id: data.id }, stored, delivery);
  return { batch: data.id, jobs: ids };
}

/** What must not change: all but content, as the lists show it. */
const kept = ({ batches, jobs }: { batches: readonly BatchRow[]; jobs: readonly JobRow[] }) => ({
  batches: batches.map(
    ({ id, seq, status, open, jobs_count, jobs_count_per_status, project_id, device_type, ...row }) => ({
      ...{ id, seq, status, open, jobs_count, jobs_count_per_status, project_id, device_type },
      times: [row.created_at, row.updated_at, row.start_datetime, row.end_datetime],
    }),
  ),
  jobs: jobs.map(({ id, seq, status, batch_id, creation_order, runs, ...row }) => ({
    ...{ id, seq, status, batch_id, creation_order, runs },
    times: [row.created_at, row.updated_at, row.start_timestamp, row.end_timestamp],
  })),
});

const later = (second: number) => fromMilliseconds(Date.now() + second * 1_000);

describe('DELETE /api/v1/batches/{batch_id}', () => {
  it('erases every place of a batch, and nothing of another or of another user', async () => {
    const other = await plant(anotherMarker);
    const owner = user;
    user = `auth0|${randomUUID()}`;
    const [foreign, second] = [await plant(anotherMarker), await plant(`${anotherMarker}2`, many)];
    const { batch, jobs } = await plant(marker, many);
    const planted = (await placesOf(marker)).map((place) => place.split(/[ /]/, 1)[0]);
    expect(new Set(planted)).toEqual(new Set(['Batches', 'Jobs', 'Sequences', 'WebhookAttempts', 'results-bucket']));
    const others = await placesOf(anotherMarker);
    const before = await ownerRows(client, names, user);
    expect(Object.values(before.columns).filter(({ batch_id }) => batch_id === batch)).toHaveLength(3);

    expect(await call('eraseBatch', of(batch), owner)).toMatchObject({ status: 404 });
    expect(await placesOf(marker)).toHaveLength(planted.length);
    sink.messages.length = 0;
    const answer = await call('eraseBatch', of(batch));
    expect(answer).toMatchObject({ status: 200, data: { id: batch, status: 'TIMED_OUT', tags: [], webhook: null } });
    expect(Date.parse(answer.data.erased_at)).toBeGreaterThan(Date.now() - 60_000);

    expect(await placesOf(marker)).toEqual([]);
    expect(await placesOf(anotherMarker)).toEqual(others);
    const after = await ownerRows(client, names, user);
    expect(kept(after)).toEqual(kept(before));
    expect(await recountOf(client, names, user)).toEqual([]);
    expect(Object.values(after.columns).filter(({ batch_id }) => batch_id === batch)).toEqual([]);
    // The callers are still remembered for other batches.
    expect(Object.values(after.columns).filter(({ batch_id }) => batch_id === second.batch)).toHaveLength(3);
    expect(sink.messages).toMatchObject([{ queue: 'Recovery', delaySeconds: 600 }]);

    const [job] = jobs as [string];
    expect(await call('getResultsLink', { path: { job_id: job } })).toMatchObject({
      status: 404,
      reason: 'results_erased',
    });
    expect(await call('getFullResults', of(batch))).toMatchObject({ status: 200, data: {} });
    expect(await call('getBatch', of(batch))).toMatchObject({ status: 200, data: { sequence_builder: null } });
    expect((await call('getJob', { path: { job_id: jobs[1]! } })).data).toMatchObject({ sequence: null, errors: null });
    expect((await call('getBatchStatus', of(batch))).data).toMatchObject({
      webhook_attempt: null,
      status: 'TIMED_OUT',
    });
    expect((await call('listBatches', { query: `tag=${marker}` })).data).toEqual([]);
    expect((await call('listBatches', { query: 'tag=common' })).data).toMatchObject([
      { id: second.batch },
      { id: foreign.batch },
    ]);
    expect((await call('listJobs', { query: `batch_id=${batch}&errors=true` })).data).toEqual([]);
    expect((await call('listBatches', { query: `id=${batch}&has_errors=true` })).data).toMatchObject([answer.data]);
    expect((await call('getBatch', of(other.batch), owner)).data).toMatchObject({ erased_at: null });

    for (const [name, request] of [
      ['setTags', { ...of(batch), body: [marker] }],
      ['rebatch', of(batch)],
      ['addJobs', { ...of(batch), body: [{ sequence: sequenceOf(marker) }] }],
      [
        'createBatch',
        {
          headers: { 'Idempotency-Key': `create ${marker}` },
          body: { project_id: uuid('c', 1), device_type: 'FRESNEL', sequence_builder: sequenceOf(marker), jobs: [{}] },
        },
      ],
    ] as const) {
      expect({ name, ...(await call(name, request)) }).toMatchObject({ name, status: 409, reason: 'erased' });
    }
    for (const name of ['closeBatch', 'cancelJobs'] as const) expect((await call(name, of(batch))).status).toBe(200);
    expect(await call('cancelBatch', of(batch))).toMatchObject({ status: 409, reason: 'batch_ended' });
    expect((await call('eraseBatch', of(batch))).data).toEqual(answer.data);
    expect(await placesOf(marker)).toEqual([]);
    expect(await recountOf(client, names, user)).toEqual([]);
  });

  it('refuses a batch that has not ended, or one of whose jobs has not, and erases nothing', async () => {
    const { data: open } = await call('createBatch', {
      body: { project_id: uuid('c', 1), device_type: 'FRESNEL', sequence_builder: sequenceText(), open: true },
    });
    await writer.createBatch(user, newBatch(1, { jobs: [newJob(1)], tags: [marker] }));
    await writer.recordBatchStatus(user, uuid('b', 1), { status: 'DONE' });
    const before = await ownerRows(client, names, user);
    for (const id of [open.id, uuid('b', 1)]) {
      expect(await call('eraseBatch', of(id))).toMatchObject({ status: 409, reason: 'batch_not_ended' });
    }
    expect(await ownerRows(client, names, user)).toEqual(before);
    expect(await call('eraseBatch', of(randomUUID()))).toMatchObject({ status: 404 });
  });
});

describe('what comes after an erasure', () => {
  it('is not stored, and is no dead letter: events of any kind, also repeated ones', async () => {
    const job = newJob(1, { variables: { [marker]: 1 } });
    const created = newBatch(1, { jobs: [job], tags: [marker], configuration: { [marker]: 1 }, open: true });
    await writer.createBatch(user, created);
    await writer.recordBatchStatus(user, created.id, { status: 'CANCELED' });
    await call('eraseBatch', of(created.id));
    const before = await ownerRows(client, names, user);
    const data: Pick<LifecycleEvent, 'type' | 'data'>[] = [
      { type: 'batch.created', data: { ...created, tags: ['other', marker] } },
      { type: 'jobs.added', data: { batch_id: created.id, jobs: [newJob(2, { variables: { [marker]: 2 } })] } },
      { type: 'batch.updated', data: { batch_id: created.id, status: 'ERROR', tags: [marker], device_status: marker } },
      {
        type: 'job.updated',
        data: { job_id: job.id, status: 'DONE', errors: [marker], results_key: `results/${user}/${marker}` },
      },
    ] as never;
    const events = data.map(
      (each, at) => ({ id: randomUUID(), user_id: user, time: later(at), ...each }) as LifecycleEvent,
    );
    expect(await writer.applyEvents(events)).toEqual(events.map(() => undefined));
    expect(await ownerRows(client, names, user)).toEqual(before);
    expect(await placesOf(marker)).toEqual([]);
  });

  it('is deleted by the message that was sent before: uploads by links from before', async () => {
    const { batch, jobs } = await plant(marker);
    await call('eraseBatch', of(batch));
    const content = JSON.stringify({ [marker]: 1 });
    const sha256 = createHash('sha256').update(content).digest('hex');
    await results.put(`results/${user}/${jobs[5]}/9/${sha256}.json`, content);
    expect(await placesOf(marker)).toHaveLength(1);
    const bodies = sink.messages
      .filter(({ queue, delaySeconds }) => queue === 'Recovery' && delaySeconds === 600)
      .map(({ body }) => body);
    expect(await recover(sqsEvent(bodies), lambdaContext())).toEqual({ batchItemFailures: [] });
    expect(await placesOf(marker)).toEqual([]);
  });

  it('is dropped: webhooks that are under way', async () => {
    const { batch } = await plant(marker);
    await call('eraseBatch', of(batch));
    const message = {
      ...{ id: 'msg_1', webhook: 'http://127.0.0.1:1/', user_id: user, batch_id: batch, job: null },
      ...{ status: 'TIMED_OUT', updated_at: later(0), attempts: 0, wait_seconds: 0 },
    };
    vi.stubEnv('WEBHOOK_KEY_ARN', 'none');
    const { handler } = await import('../../functions/consumers/deliver-webhooks.ts');
    sink.messages.length = 0;
    expect(await handler(sqsEvent([message]), lambdaContext())).toEqual({ batchItemFailures: [] });
    expect(sink.messages).toEqual([]);
    const late = { outcome: 'RETRYING', reason: marker, type: null, job_id: null, attempts: 1 } as const;
    const key = { user_id: user, batch_id: batch };
    await putWebhookAttempt(db, key, { ...late, attempted_at: null, next_attempt_at: null });
    await putDelivery(db, key, deliveryWith(marker));
    expect(await placesOf(marker)).toEqual([]);
  });
});

describe('an erasure that dies', () => {
  it.each([
    ['after its first transaction', 1, few, 'repeats it'],
    ['after its second transaction', 2, many, 'the message'],
    ['before its last transaction', 3, many, 'repeats it'],
  ])('%s is completed by whoever comes next', async (_, transactions, added, next) => {
    const { batch } = await plant(marker, added);
    const before = await ownerRows(client, names, user);
    const dying = dyingClient(client, transactions);
    const whole = { userId: user, batchId: batch };
    await expect(eraseBatch({ ...db, client: dying.client }, bucket, whole)).rejects.toThrow('killed');
    expect(await recountOf(client, names, user)).toEqual([]);
    if (next === 'the message') await finishErasure(db, bucket, whole);
    else await eraseBatch(db, bucket, whole);
    expect(await placesOf(marker)).toEqual([]);
    expect(kept(await ownerRows(client, names, user))).toEqual(kept(before));
    const { batches } = await ownerRows(client, names, user);
    expect(batches.find(({ id }) => id === batch)?.erasing).toBeUndefined();
    expect(await recountOf(client, names, user)).toEqual([]);
  });

  it('keeps the key of results until they are deleted, also where S3 fails', async () => {
    const { batch } = await plant(marker);
    results.handle = async (request, pass, answer) =>
      request.method === 'POST'
        ? answer({ status: 400, headers: {}, body: Buffer.alloc(0) } as never)
        : answer(await pass());
    expect(await call('eraseBatch', of(batch))).toMatchObject({ status: 500 });
    results.handle = async (_, pass, answer) => answer(await pass());
    expect((await placesOf(marker)).length).toBeGreaterThan(0);
    expect(await call('eraseBatch', of(batch))).toMatchObject({ status: 200 });
    expect(await placesOf(marker)).toEqual([]);
  });
});
