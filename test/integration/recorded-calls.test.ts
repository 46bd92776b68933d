/**
 * What each function's role allows is what the function calls, no more and no less: every call is
 * recorded on the wire, by IAM's action and resource. test/infra holds the synthesized roles to the
 * same declarations.
 */

import { gzipSync } from 'node:zlib';
import type { S3Client } from '@aws-sdk/client-s3';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { eraseBatch } from '../../functions/data/batches/erasures.ts';
import { createBatch } from '../../functions/data/batches/new-batches.ts';
import { rebatch } from '../../functions/data/batches/rebatches.ts';
import { changeItems, changeToken } from '../../functions/data/columns/changes.ts';
import { columnPrefix } from '../../functions/data/columns/column-items.ts';
import { formatOf, formerFormatOf } from '../../functions/data/columns/head.ts';
import { batchList, jobList } from '../../functions/data/columns/lists.ts';
import { isSealed, seal } from '../../functions/data/columns/packed-integers.ts';
import { isSummarized } from '../../functions/data/columns/summary.ts';
import { isClaimable } from '../../functions/data/lifecycle/queue-writes.ts';
import { changeLimits } from '../../functions/data/limits/limits-of-subjects.ts';
import { queueKey } from '../../functions/data/queue/fair-order.ts';
import { constantsId, markConstants, packConstants } from '../../functions/data/rows/constants.ts';
import { announceDevice } from '../../functions/data/rows/devices.ts';
import { sequenceItem } from '../../functions/data/rows/sequences.ts';
import { rowLimits } from '../../functions/limits.ts';
import { otherFunctions } from '../../functions/other-functions.ts';
import type { Uses } from '../../functions/rights.ts';
import { type Route, type RouteName, routes } from '../../functions/routes.ts';
import type { BatchRow } from '../../functions/schemas/batch.ts';
import { CreateBatchRequest } from '../../functions/schemas/batch-request.ts';
import { changeItem } from '../support/change-item.ts';
import { dyingClient } from '../support/dying-client.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { type GatewayRequest, gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { itemsOfOwner } from '../support/items-of-owner.ts';
import { loadDevices, putDevice } from '../support/load-devices.ts';
import { loadList, storedColumns, writeAll } from '../support/load-list.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { newBatch, newJob, uuid } from '../support/new-batch.ts';
import { type PassedAnswer, startPassingServer } from '../support/passing-server.ts';
import { batchRows, countJobs, jobRows } from '../support/random-rows.ts';
import { startResultsStore } from '../support/results-store.ts';
import { newBatchBody, type RouteCase, routeCases } from '../support/route-cases.ts';
import { startSecrets, webhookKeyArn } from '../support/secrets.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { sqsEvent } from '../support/sqs-event.ts';
import { testDb } from '../support/test-db.ts';
import { keysInQueue } from '../support/user-clocks.ts';
import { leaseFrom, workerStack } from '../support/worker-stack.ts';
import { writeApi } from '../support/write-api.ts';

const { client, names } = await functionEnvironment();
const db = testDb(client, names);

/** `Table Action` or `Table/index Action`, of each call that was made. */
const calls = new Set<string>();
beforeEach(forgetCalls);

/** For functions that read what an index lacks in another way. */
let isIndexBehind = false;
/** Heads are read as the release before has written them: the first change raises their format. */
let areHeadsFormer = true;
beforeEach(() => {
  [isIndexBehind, areHeadsFormer] = [false, true];
});

/** The answer to a function that reads heads before it writes. */
function withFormerHeads(answer: PassedAnswer): PassedAnswer {
  const former = [batchList, jobList].reduce(
    (text, list) => text.replaceAll(formatOf(list), formerFormatOf(list)),
    answer.body.toString(),
  );
  return { ...answer, body: Buffer.from(former) };
}

const recorder = await startPassingServer(dynamodbEndpoint, async ({ headers, body }, pass, answer) => {
  const [, operation = ''] = String(headers['x-amz-target']).split('.');
  const request = JSON.parse(body.toString());
  for (const call of callsOf(operation, request)) calls.add(call);
  const knowsNothing = request.TableName === names.Jobs && request.IndexName !== undefined && isIndexBehind;
  if (knowsNothing) return answer({ status: 200, headers: {}, body: Buffer.from('{"Items":[]}') });
  if (operation === 'TransactWriteItems') areHeadsFormer = false;
  const passed = await pass();
  answer(operation === 'BatchGetItem' && areHeadsFormer ? withFormerHeads(passed) : passed);
});
const sink = await startMessageSink();
const secrets = await startSecrets(client, names);
const results = await startResultsStore();
vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', recorder.url);
vi.stubEnv('WEBHOOK_REACH', 'loopback');
vi.stubEnv('ISSUER', 'https://issuer.example');
vi.stubEnv('AUDIENCE', 'audience');
vi.stubEnv('JWKS_URI', 'https://issuer.example/jwks');
afterAll(async () => {
  await recorder.stop();
  await sink.stop();
  await secrets.stop();
  await results.stop();
});

interface Request {
  readonly TableName?: string;
  readonly IndexName?: string;
  readonly RequestItems?: Readonly<Record<string, object>>;
  readonly TransactItems?: readonly Readonly<Record<string, { readonly TableName: string }>>[];
}

/** A transaction needs the rights to its parts: `Put` is PutItem. */
function callsOf(operation: string, { TableName, IndexName, RequestItems, TransactItems }: Request): string[] {
  const named = (physical: string) => Object.entries(names).find(([, name]) => name === physical)?.[0] ?? physical;
  if (TransactItems !== undefined) {
    return TransactItems.flatMap((item) =>
      Object.entries(item).map(([part, { TableName }]) => `${named(TableName)} ${part}Item`),
    );
  }
  if (RequestItems !== undefined) return Object.keys(RequestItems).map((name) => `${named(name)} ${operation}`);
  return [`${named(TableName ?? '?')}${IndexName === undefined ? '' : `/${IndexName}`} ${operation}`];
}

/** What makes a request ready is no call of the function. */
function forgetCalls() {
  calls.clear();
  for (const each of [sink.messages, secrets.calls, results.requests]) each.length = 0;
}

/** Expects the calls since `forgetCalls`: of the database, and of what is beside it. */
function expectCalls(uses: Uses) {
  for (const { queue } of sink.messages) calls.add(`${queue.replace('-dead-letters', '/dead_letters')} SendMessage`);
  for (const request of results.requests) {
    if (/^(GET|HEAD) results\//.test(request)) calls.add('Results GetObject');
    if (/^PUT results\//.test(request)) calls.add('Results PutObject');
    // Lists of versions, and deletions, are requests for the bucket.
    if (request === 'GET ') calls.add('ResultsVersions ListBucketVersions');
    if (request === 'POST ') calls.add('Results DeleteObjectVersion');
  }
  for (const call of secrets.calls) {
    calls.add(call.replace('secretsmanager:', 'WebhookKey ').replace(` ${webhookKeyArn}`, ''));
  }
  expect([...calls].sort()).toEqual(listDeclared(uses).sort());
}

function load(entry: string) {
  return import(/* @vite-ignore */ `${import.meta.dirname}/../../functions/${entry}.ts`);
}

function listDeclared(uses: Uses): string[] {
  return Object.entries(uses).flatMap(([name, actions]) => actions.map((action) => `${name} ${action}`));
}

const owner = 'auth0|owner';
const sample = <Value>(rows: fc.Arbitrary<Value>) => fc.sample(rows, { numRuns: 1, seed: 5 })[0] as Value;
/**
 * Large enough for this: looking up ten rows, far from each other, by their blocks is cheaper than
 * reading what lies between.
 */
const rowCount = 2_700;
const isRare = (seq: number) => seq % 260 === 0;
/** 30 texts are enough for some to leave the heads: 24 leave together. */
const projectOf = (seq: number) => uuid('c', seq % 30);
const uncounted = sample(batchRows(owner, rowCount)).map((row, seq) => ({
  ...row,
  ...(seq === 0 && { open: true, status: 'RUNNING' as const, webhook: 'https://receiver.example.org/' }),
  // Both wait for a device, so that canceling them changes its queue: one has many jobs, one none.
  ...(seq === 1 && { status: 'PENDING' as const }),
  ...(seq === 14 && { open: true, status: 'PENDING' as const }),
  project_id: projectOf(seq),
  device_type: isRare(seq) ? 'RARE' : 'FRESNEL',
}));
const [first, second, few, farApart, farApartMiscounted] = uncounted.map(({ id }) => id) as [
  string,
  string,
  string,
  string,
  string,
];
/**
 * One batch has few jobs. Two others have the oldest and the newest: looking up their ids one by
 * one is cheaper, too.
 */
const outermost = [farApart, farApartMiscounted];
const batchOf = (seq: number) => {
  if (seq < 120 || seq >= rowCount - 120) return outermost[seq % 2]!;
  if (seq % 40 === 1) return few;
  // The first two have enough jobs to end in several transactions. Nine others have the rest.
  return seq < 500 ? [first, second][seq % 2]! : uncounted[5 + (seq % 9)]!.id;
};
/** What lies beside the rows: so whatever shows them reads it. */
const note = JSON.stringify({ note: 'x'.repeat(1_100) });
const apart = { batches: { configuration: note }, jobs: { variables: note } };
const itemsBeside = (userId: string, rows: readonly { readonly id: string }[], content: Record<string, string>) =>
  Array.from(new Set(rows.map(({ id }) => id)), (id) => {
    return [names.Sequences, sequenceItem(userId, constantsId({ id, ...content }), packConstants(content))] as const;
  });
const orders = new Map<string, number>();
const jobs = sample(jobRows(owner, [first, second], rowCount)).map((row, seq) => {
  const batch_id = batchOf(seq);
  const creation_order = orders.get(batch_id) ?? 0;
  orders.set(batch_id, creation_order + 1);
  return {
    ...markConstants({ ...row, ...apart.jobs }, 0),
    batch_id,
    project_id: projectOf(seq),
    creation_order,
    origin: isRare(seq) ? ('OVH' as const) : ('CLIENT' as const),
    // Full results of more than 100 jobs are counted as one of the user's long calls.
    results_key: seq % 50 === 0 || batch_id === farApart ? `results/${owner}/${row.id}.json` : null,
  };
});
const miscounted = [few, farApartMiscounted];
const batches = countJobs(uncounted, jobs)
  .map((batch) =>
    miscounted.includes(batch.id) ? { ...batch, jobs_count_per_status: uncounted[2]!.jobs_count_per_status } : batch,
  )
  .map((batch) => ({
    ...markConstants({ ...batch, ...apart.batches }, 0),
    counted_in_project: rowLimits,
    queue_key: isClaimable({ ...(batch as BatchRow), queue_key: null })
      ? queueKey({ tag: 0, priority: batch.queue_priority, created_at: batch.created_at, batchId: batch.id })
      : null,
  }));

beforeAll(async () => {
  await Promise.all([
    loadList(client, names, { list: batchList, userId: owner, rows: batches }),
    loadList(client, names, { list: jobList, userId: owner, rows: jobs }),
    loadDevices(client, names),
    writeAll(client, [...itemsBeside(owner, batches, apart.batches), ...itemsBeside(owner, jobs, apart.jobs)]),
    // For what creations read of limits, and for the counters that move with rows.
    ...[`user:${owner}`, `project:${uuid('c', 1)}`].map((subject) =>
      changeLimits(db, {
        operator: 'operator',
        subject,
        limits: { max_unfinished_jobs: 1_000_000, shots_per_month: 1_000_000 },
      }),
    ),
  ]);
});

/**
 * A user whose heads are lost, with nothing but the rows of a job and of some batches: the second
 * has no jobs, the third waits.
 */
const headless = 'auth0|headless';
const pending = jobs.find(({ status }) => status === 'PENDING')!;
const rowsWithoutHeads = {
  [names.Batches]: [
    ...batches.filter(({ id }) => id === first || id === pending.batch_id),
    { ...batches[1]!, status: 'RUNNING', open: true, jobs_count: 0 },
    { ...batches[2]!, status: 'PENDING', queue_priority: 'LOW', queue_key: null },
  ],
  [names.Jobs]: [pending],
};

beforeAll(async () => {
  await writeAll(client, [
    ...itemsBeside(headless, rowsWithoutHeads[names.Batches]!, apart.batches),
    ...itemsBeside(headless, rowsWithoutHeads[names.Jobs]!, apart.jobs),
  ]);
  const Item = sequenceItem(owner, second, gzipSync(sequenceText()));
  await client.send(new PutCommand({ TableName: names.Sequences, Item }));
  for (const [TableName, rows] of Object.entries(rowsWithoutHeads)) {
    for (const row of rows) await client.send(new PutCommand({ TableName, Item: { ...row, user_id: headless } }));
  }
});

/** Makes a batch one that workers may take, and that counts in its project. */
function setQueueKey(user_id: string, id: string, key: string | null) {
  const attributes = { queue_key: key, counted_in_project: rowLimits };
  return changeItem(client, names.Batches, { Key: { user_id, id }, attributes });
}

/** Seals all blocks of a user, as if there were summaries of them. */
async function sealBlocks(userId: string) {
  const prefixes = [batchList, jobList].flatMap((list) =>
    Object.values(list.columns).flatMap((column) => (isSummarized(column) ? columnPrefix(list, column) : [])),
  );
  const items = await itemsOfOwner(client, names.Columns, userId);
  const open = items.filter(
    ({ key, v }) => prefixes.some((prefix) => String(key).startsWith(prefix)) && !isSealed(v as Uint8Array),
  );
  const sealed = open.map((item) => ({ ...item, v: seal(item.v) }));
  await writeAll(
    client,
    sealed.map((item) => [names.Columns, item]),
  );
}

/** Makes a user's rows old ones: others follow, and their blocks are sealed. */
async function makeOld(userId: string) {
  const newer = Array.from({ length: 16 }, (_, at) => newBatch(900 + at, { jobs: [newJob(900 + at)] }));
  await writeApi(db).createBatches(userId, newer);
  await sealBlocks(userId);
}

/** What a user asks for whose function died meanwhile, and who has made many batches since. */
async function* repeated(request: GatewayRequest, call: (dying: typeof db) => Promise<unknown>) {
  await expect(call({ ...db, client: dyingClient(client, 1).client })).rejects.toThrow('killed');
  await makeOld(request.userId!);
  yield request;
}

function callOf({ userId, headers }: GatewayRequest) {
  const claims = { queue_priority: 'MEDIUM' } as const;
  return { userId: userId!, idempotencyKey: String(headers!['Idempotency-Key']), claims };
}

const worker = workerStack(client, names, {
  get now() {
    return Date.now();
  },
});

/** Gives a user batches of as many projects. */
function loadProjects(userId: string) {
  const rows = sample(batchRows(userId, 30)).map((row, seq) => ({
    ...row,
    project_id: projectOf(seq),
    queue_key: null,
  }));
  return loadList(client, names, { list: batchList, userId, rows });
}

/** A batch that a device has, and requests under its lease. */
async function leased(name: string, content: Parameters<typeof worker.create>[1]) {
  const [user, device_type] = [`auth0|owner of a batch for ${name}`, `DEVICE_${name}`];
  await loadProjects(user);
  const batch = await worker.create(user, { ...content, device_type, long: true });
  const claim = await worker.claim(device_type, 'worker');
  const [first, ...others] = batch.jobs!.map(({ id }) => id) as [string, ...string[]];
  const request = (job_id: string, body?: unknown): GatewayRequest => ({
    userId: 'device',
    scope: 'device:*',
    path: { lease: claim!.lease, job_id },
    body,
  });
  return { user, batch, lease: leaseFrom(claim!), first, others, request };
}

/** A request about limits that are there, of a user with a batch. */
async function limitedSubject(name: string): Promise<GatewayRequest> {
  const userId = `whose limits ${name} finds`;
  await worker.create(userId);
  const subject = `user:${userId}`;
  await changeLimits(db, { operator: 'operator', subject, limits: {} });
  return { userId: 'operator', scope: 'operator', path: { subject } };
}

/** Requests for which something is made ready when their turn comes. */
const preparedRequests: Partial<Record<RouteName, () => AsyncIterable<GatewayRequest>>> = {
  async *createBatch() {
    yield* await requestsOf('createBatch');
    const body = { ...newBatchBody(uuid('c', 1)), jobs: Array.from({ length: 100 }, () => ({})) };
    const request = { userId: 'auth0|whose creation died', headers: { 'Idempotency-Key': 'key' }, body };
    yield* repeated(request, (dying) => createBatch(dying, callOf(request), CreateBatchRequest.parse(body)));
  },
  async *eraseBatch() {
    const userId = 'auth0|whose batch is erased';
    const batch_id = await endedBatch(userId, 2);
    // Its end is lost: it gets one, and is counted.
    const attributes = { end_datetime: null, reported: undefined };
    await changeItem(client, names.Batches, { Key: { user_id: userId, id: batch_id }, attributes });
    forgetCalls();
    yield { userId, path: { batch_id } };
  },
  async *rebatch() {
    yield* await requestsOf('rebatch');
    const userId = 'auth0|whose repetition died';
    const { id: batch_id } = await worker.create(userId, { jobs: 100 });
    const request = { userId, headers: { 'Idempotency-Key': 'key' }, path: { batch_id } };
    yield* repeated(request, (dying) => rebatch(dying, callOf(request), { batchId: batch_id, query: {} }));
  },
  async *getBatchStatus() {
    yield* await requestsOf('getBatchStatus');
    const userId = 'auth0|owner of a batch that waits';
    const { id } = await worker.create(userId, { device_type: 'BUSY' });
    yield { userId, path: { batch_id: id } };
  },
  async *getBatchWebhook() {
    yield {
      userId: 'auth0|owner of a webhook',
      path: { batch_id: await batchWithWebhook('auth0|owner of a webhook') },
    };
  },
  async *testWebhook() {
    yield { userId: 'auth0|tester', path: { batch_id: await batchWithWebhook('auth0|tester') } };
  },
  async *getJobStatus() {
    const userId = 'auth0|owner of a job that waits';
    const { jobs = [] } = await worker.create(userId, { device_type: 'BUSY' });
    forgetCalls();
    yield { userId, path: { job_id: jobs[0]!.id } };
  },
  async *cancelBatchOfUser() {
    const user_id = 'auth0|owner of batches that an operator cancels';
    await loadProjects(user_id);
    for (const jobs of [1, 100]) {
      const { id: batch_id } = await worker.create(user_id, { jobs });
      await makeOld(user_id);
      yield { userId: 'operator', scope: 'operator', path: { user_id, batch_id }, body: { reason: 'why' } };
    }
    // A job that runs: its device was busy.
    const { user, batch, lease } = await leased('cancelBatchOfUser', {});
    await updateQueue(lease.deviceType, { job_since: 1 });
    const path = { user_id: user, batch_id: batch.id };
    yield { userId: 'operator', scope: 'operator', path, body: { reason: 'why' } };
  },
  async *setBatchPriority() {
    const user = 'auth0|owner of a batch for setBatchPriority';
    await loadProjects(user);
    const { id } = await worker.create(user, { long: true });
    await makeOld(user);
    const path = { user_id: user, batch_id: id };
    const request = { userId: 'operator', scope: 'operator', path, body: { queue_priority: 'HIGH', reason: 'why' } };
    // Others are overtaken, which the preview names.
    await worker.create(`${user}, overtaken`);
    yield { ...request, query: 'preview=true', body: { queue_priority: 'FREE', reason: 'why' } };
    yield request;
  },
  async *removeDevice() {
    await announceDevice(db, 'REMOVED', { status: 'UP' });
    yield { userId: 'device', scope: 'device:*', path: { device_type: 'REMOVED' } };
  },
  async *setDevice() {
    yield* await requestsOf('setDevice');
    const { lease } = await leased('setDevice', {});
    const path = { device_type: lease.deviceType };
    const request = { userId: 'operator', scope: 'operator', path, body: { mode: 'PAUSED', reason: 'recorded' } };
    await worker.create(lease.userId, { device_type: lease.deviceType });
    yield { ...request, query: 'preview=true' };
    yield request;
  },
  async *getDevice() {
    const { lease } = await leased('getDevice', {});
    yield { userId: 'operator', scope: 'operator', path: { device_type: lease.deviceType } };
  },
  async *listQueue() {
    const { lease } = await leased('listQueue', {});
    yield { userId: 'operator', scope: 'operator', path: { device_type: lease.deviceType } };
  },
  async *listUsage() {
    await endedBatch('auth0|whose usage is listed', 1);
    yield* await requestsOf('listUsage');
  },
  async *getLimits() {
    yield await limitedSubject('getLimits');
  },
  async *putLimits() {
    yield* await requestsOf('putLimits');
    yield { ...(await limitedSubject('putLimits')), query: 'preview=true', body: {} };
  },
  async *deleteLimits() {
    const request = await limitedSubject('deleteLimits');
    yield { ...request, query: 'preview=true' };
    yield request;
  },
  async *claimBatch() {
    isIndexBehind = true;
    const device_type = 'RECORDED';
    const user = 'auth0|owner of recorded batches';
    await loadProjects(user);
    await worker.create(user, { device_type });
    // The first batch ends by this claim, which takes the second.
    await worker.claim(device_type, 'lost');
    await updateQueue(device_type, { losses: 3, lease_until: 1 });
    await worker.create(user, { device_type, long: true });
    await makeOld(user);
    const claim = { userId: 'device', scope: 'device:*', body: { worker: 'worker' } };
    yield { ...claim, path: { device_type } };
    await worker.create(user, { device_type: 'UNANNOUNCED' });
    yield { ...claim, path: { device_type: 'UNANNOUNCED' } };
  },
  async *extendLease() {
    const { user, batch, first, request } = await leased('extendLease', {});
    yield request(first, { job_id: first });
    await worker.cancel(user, batch.id);
    yield request(first, { job_id: first });
  },
  async *uploadResults() {
    const { first, request } = await leased('uploadResults', {});
    yield request(first, { bytes: 2, sha256: 'a'.repeat(64) });
  },
  async *reportJob() {
    isIndexBehind = true;
    const { user, lease, first, others, request } = await leased('reportJob', { jobs: 2 });
    await results.put(await worker.uploadKey(lease, first, 'a'.repeat(64)), {});
    await makeOld(user);
    yield request(first, { status: 'DONE', results: true });
    yield request(others[0]!, { status: 'DONE', results_document: {} });
    yield request(others[0]!, { status: 'DONE', results_document: {} });
    yield* heldForLong('reportJob for long');
  },
  async *nextJob() {
    isIndexBehind = true;
    const { user, batch, lease, first, request } = await leased('nextJob', { open: true });
    await worker.report(lease, first);
    await makeOld(user);
    yield request(first);
    const { jobs } = await worker.add(user, batch.id, 1, { variables: JSON.parse(note) });
    yield request(first);
    await worker.report(lease, jobs![1]!.id);
    await updateQueue(lease.deviceType, { idle_since: 1 });
    yield request(first);
    yield request(first);
    yield* heldForLong('nextJob for long');
  },
  async *releaseLease() {
    isIndexBehind = true;
    const { user, first, request } = await leased('releaseLease', {});
    await makeOld(user);
    yield request(first);
    yield request(first);
    // A job that has run for too long ends.
    const long = await leased('releaseLease after long', {});
    await updateQueue(long.lease.deviceType, { job_until: 1, max_job_seconds: 1 });
    yield long.request(long.first);
    // A batch that waits for jobs leaves the queue.
    const open = await leased('releaseLease of an open batch', { open: true });
    await worker.report(open.lease, open.first);
    yield open.request(open.first);
  },
};

/** Requests for an open batch that goes behind the others. */
async function* heldForLong(name: string) {
  const { user, batch, first, lease, request } = await leased(name, { open: true });
  if (name.startsWith('nextJob')) await worker.report(lease, first);
  await worker.add(user, batch.id, 1);
  await updateQueue(lease.deviceType, { held_since: 1 });
  yield request(first, { status: 'DONE' });
}

/** Changes all batches in a device's queue. */
async function updateQueue(deviceType: string, attributes: Readonly<Record<string, unknown>>) {
  for (const key of await keysInQueue(client, names, deviceType)) {
    await changeItem(client, names.DeviceQueue, { Key: { device_type: deviceType, key }, attributes });
  }
}

/** No server listens at its webhook. */
async function batchWithWebhook(userId: string): Promise<string> {
  await writeApi(db).createBatch(userId, newBatch(1, { webhook: 'http://127.0.0.1:9/' }));
  forgetCalls();
  return uuid('b', 1);
}

/** Requests that together make every call that the route's role allows. */
async function requestsOf(name: RouteName): Promise<readonly GatewayRequest[]> {
  const routeCase = caseOf(name);
  const own = { batches, jobs };
  const ofOwner = [
    ...Object.values(routeCase.ways?.(own) ?? { 'a public route': {} }),
    ...(routeCase.moreCalls?.(own) ?? []),
  ];
  const ofNewcomers = routeCase.callsOfNewcomers?.(uuid('b', 1)) ?? [];
  const [newcomer, hasBatch] = [`auth0|${name}`, `auth0|${name} with a batch`];
  if (ofNewcomers.length > 0) {
    const count = { cancelJob: 1, cancelJobs: 150 }[name as string] ?? 0;
    const jobs = Array.from({ length: count }, (_, at) => newJob(at + 1));
    await writeApi(db).createBatch(hasBatch, newBatch(1, { open: true, jobs }));
    // For how long a device ran a job that is canceled is read from its lease.
    if (count > 0) await writeApi(db).recordJobStatus(hasBatch, newJob(1).id, { status: 'RUNNING' });
    await setQueueKey(hasBatch, uuid('b', 1), name === 'addJobs' ? null : 'its key');
  }
  if ('Columns' in routes[name].uses) await sealBlocks(owner);
  forgetCalls();
  return [
    ...ofOwner.map((request) => ({ ...request, userId: owner })),
    ...ofNewcomers.map((request) => ({ ...request, userId: name === 'createBatch' ? newcomer : hasBatch })),
  ];
}

/**
 * Of a function that looks for rows of fellows: a request of an administrator of the project about
 * the batch of another, or its job.
 */
async function fellowsRequest(name: RouteName): Promise<GatewayRequest | undefined> {
  const { Contributors }: Uses = routes[name].uses;
  if (!Contributors?.includes('Query')) return undefined;
  const user_id = `auth0|fellow for ${name}`;
  const { id: batch_id, project_id, jobs: [job] = [] } = await worker.create(user_id, { open: name !== 'rebatch' });
  await client.send(new PutCommand({ TableName: names.Contributors, Item: { project_id, user_id } }));
  const [way] = Object.values(caseOf(name).ways?.({ batches, jobs }) ?? {});
  const body = name === 'cancelBatches' ? { batch_ids: [batch_id] } : way?.body;
  const projects = JSON.stringify([{ id: project_id, name: 'The project', role: 'admin' }]);
  const path = { batch_id, job_id: job!.id };
  const query = { listBatches: { scope: 'project' }, listJobs: { batch_id } }[String(name)];
  return { userId: 'auth0|administrator', claims: { projects }, path, body, ...(query && { query }) };
}

function caseOf(name: RouteName): Partial<RouteCase> {
  return (routeCases as Partial<Record<RouteName, RouteCase>>)[name] ?? {};
}

/** The files of a page that is bundled for browsers are only beside its bundle. */
const fromSources = Object.entries<Route>(routes).filter(([, { browserEntry }]) => browserEntry === undefined);

describe.each(fromSources)('%s', (name, { entry, uses }) => {
  it('makes every call that its role allows, and no other', async () => {
    const { handler } = await load(entry);
    const requests = preparedRequests[name as RouteName]?.() ?? (await requestsOf(name as RouteName));
    for await (const request of requests) {
      const event = gatewayEvent(name as RouteName, request);
      const { statusCode, body } = await handler(event, lambdaContext());
      expect(statusCode).toBe(200);
      const { results_link, url } = body.startsWith('{') ? (JSON.parse(body).data ?? {}) : {};
      const link = results_link ?? url;
      if (link !== undefined) calls.add(callOfLink(link));
    }
    const fellows = await fellowsRequest(name as RouteName);
    if (fellows !== undefined) {
      const { statusCode } = await handler(gatewayEvent(name as RouteName, fellows), lambdaContext());
      expect([200, 403]).toContain(statusCode);
    }
    for (const request of caseOf(name as RouteName).callsWithoutHeads?.({ batches, jobs }) ?? []) {
      const path = request.path?.user_id === undefined ? request.path : { ...request.path, user_id: headless };
      const event = gatewayEvent(name as RouteName, { ...request, userId: headless, ...(path && { path }) });
      expect((await handler(event, lambdaContext())).statusCode).toBe(500);
    }
    expectCalls(uses);
  });
});

/** A batch that has ended: old, with tags, a webhook, results, and calls that are remembered. */
async function endedBatch(userId: string, jobs: number): Promise<string> {
  await loadProjects(userId);
  const body = { ...newBatchBody(uuid('c', 1)), tags: ['a'], webhook: 'https://receiver.example.org/' };
  const call = { userId, idempotencyKey: 'key', claims: { queue_priority: 'LOW' } } as const;
  const request = CreateBatchRequest.parse({ ...body, jobs: Array.from({ length: jobs }, () => ({})) });
  const { id, jobs: [job] = [] } = await createBatch(db, call, request);
  const results_key = `results/${userId}/results.json`;
  await results.put(results_key, {});
  const writer = writeApi(db);
  await writer.recordJobStatus(userId, job!.id, { status: 'ERROR', errors: ['failed'], results_key });
  await writer.recordBatchStatus(userId, id, { status: 'CANCELED' });
  await makeOld(userId);
  return id;
}

/** A pre-signed URL is a call that someone else makes in the function's role. */
function callOfLink(link: string): string {
  const { pathname, searchParams } = new URL(link);
  return `${pathname.startsWith('/results-bucket/results/') ? 'Results' : pathname} ${searchParams.get('x-id')}`;
}

describe.each(['applyEvents', 'applyWaitingEvents'] as const)('%s', (name) => {
  it('makes every call that its role allows, and no other', async () => {
    const { handler } = await load(otherFunctions[name].entry);
    const user_id = `auth0|new owner of ${name}`;
    const event = (type: string, second: number, data: object) => ({
      id: `event ${second}`,
      type,
      time: `2026-03-01T00:00:${String(second).padStart(2, '0')}Z`,
      user_id,
      data,
    });
    const variables = { note: 'x'.repeat(1_100) };
    const [batch_id, forWorkers] = [uuid('b', 1), uuid('b', 3)];
    const batch = { id: batch_id, project_id: uuid('c', 1), device_type: 'FRESNEL', queue_priority: 'LOW', open: true };
    const created = { ...batch, id: forWorkers };
    const events = [
      event('batch.created', 1, { ...batch, tags: ['a', 'b'], jobs: [{ id: uuid('a', 1), runs: 1, variables }] }),
      event('jobs.added', 2, { batch_id, jobs: [{ id: uuid('a', 2) }] }),
      event('batch.updated', 3, { batch_id, status: 'RUNNING', tags: ['b'] }),
      event('job.updated', 4, { job_id: uuid('a', 1), status: 'RUNNING' }),
      event('job.updated', 11, {
        ...{ job_id: uuid('a', 2), status: 'DONE', results_key: `results/${user_id}/1.json` },
        ...{ start_timestamp: '2026-03-01T00:00:01Z', end_timestamp: '2026-03-01T00:00:02Z' },
      }),
      event('batch.updated', 5, { batch_id: uuid('b', 2) }),
      event('no.such.event', 6, {}),
      event('jobs.added', 6, {
        batch_id,
        jobs: Array.from({ length: 130 }, (_, at) => ({ id: uuid('a', 100 + at), runs: 1 })),
      }),
      event('batch.updated', 7, { batch_id, status: 'TIMED_OUT' }),
      event('batch.created', 8, created),
      event('jobs.added', 9, { batch_id: forWorkers, jobs: [{ id: uuid('a', 90), runs: 1 }] }),
      // A device may have the batch: its lease is read.
      event('job.updated', 12, { job_id: uuid('a', 90), status: 'RUNNING' }),
      event('batch.updated', 13, { batch_id: forWorkers, status: 'CANCELED' }),
    ];
    for (const each of events) {
      await handler(sqsEvent([each]), lambdaContext());
      if (each.data === created) await setQueueKey(user_id, forWorkers, null);
    }
    expectCalls(otherFunctions[name].uses);
  });
});

describe('recoverBatches', () => {
  it('makes every call that its role allows, and no other', async () => {
    const { handler } = await load(otherFunctions.recoverBatches.entry);
    const user_id = 'auth0|whose calls died';
    await writeApi(db).createBatches(user_id, [
      newBatch(1, { jobs: [newJob(1)] }),
      newBatch(2, { jobs: [newJob(2)] }),
      newBatch(3, { jobs: [newJob(3), newJob(4)], open: true }),
    ]);
    const start_timestamp = '2026-03-01T00:00:00.000000Z';
    await writeApi(db).recordJobStatus(user_id, newJob(2).id, { status: 'RUNNING', start_timestamp });
    const [canceling, inQueue, added] = await itemsOfOwner(client, names.Batches, user_id);
    const marked = [
      { ...canceling, canceling: true, counted_in_project: rowLimits },
      { ...inQueue, pending_calls: ['call'], queue_key: 'gone' },
      // The job behind the call's own jobs brings the batch into the queue.
      { ...added, pending_calls: [{ id: 'addition', from: 0 }], queue_key: null },
    ];
    for (const Item of marked) await client.send(new PutCommand({ TableName: names.Batches, Item }));
    await makeOld(user_id);
    const call = { id: 'call', job_ids: [newJob(2).id], errors: null };
    const addition = { id: 'addition', job_ids: [newJob(3).id], errors: null };
    const bodies = [
      { user_id, batch_id: canceling!.id },
      { user_id, batch_id: inQueue!.id, call },
      { user_id, batch_id: added!.id, call: addition },
      'unreadable',
      { user_id, batch_id: uuid('b', 4) },
    ];
    const erasing = await endedBatch('auth0|whose erasure died', 100);
    const dying = interceptedClient(client, async (call) => {
      if (call.name === 'BatchWriteCommand') throw new Error('killed');
      return call.send();
    });
    const empty = { name: 'empty', client: { send: async () => ({}) } as unknown as S3Client };
    const whoseErasureDied = { userId: 'auth0|whose erasure died', batchId: erasing };
    await expect(eraseBatch({ ...db, client: dying }, empty, whoseErasureDied)).rejects.toThrow('killed');
    bodies.push({ user_id: 'auth0|whose erasure died', batch_id: erasing });
    // Its row is corrupt: it is tried again later.
    await client.send(new PutCommand({ TableName: names.Batches, Item: { user_id, id: uuid('b', 4) } }));
    forgetCalls();
    expect(await handler(sqsEvent(bodies), lambdaContext())).toEqual({ batchItemFailures: [] });
    expectCalls(otherFunctions.recoverBatches.uses);
  });
});

describe('measureQueues', () => {
  it('makes every call that its role allows, and no other', async () => {
    const { handler } = await load(otherFunctions.measureQueues.entry);
    // The first batch has a job that runs, the second waits for jobs and leaves the queue.
    const [runs, waits] = [await leased('measureQueues', {}), await leased('measureQueues of another', { open: true })];
    await worker.report(waits.lease, waits.first);
    const long = await leased('measureQueues after long', {});
    await updateQueue(long.lease.deviceType, { job_until: 1, max_job_seconds: 1 });
    for (const { user, lease } of [runs, waits, long]) {
      await updateQueue(lease.deviceType, { lease_until: 1 });
      await putDevice(
        client,
        names,
      )({
        device_type: lease.deviceType,
        name: lease.deviceType,
        status: 'UP',
        specs: '{}',
        public: true,
        announced_at: '2026-11-21T10:00:00.000000Z',
      });
      await makeOld(user);
    }
    forgetCalls();
    isIndexBehind = true;
    await handler({}, lambdaContext());
    expectCalls(otherFunctions.measureQueues.uses);
  });
});

describe.each(['authorizer', 'methodNotAllowed'] as const)('%s', (name) => {
  it('makes no call', async () => {
    const { handler } = await load(otherFunctions[name].entry);
    const event = {
      ...gatewayEvent('getHealth'),
      authorizationToken: 'Bearer none',
      methodArn: 'arn:a:b:c:d:e/f/GET/g',
    };
    await Promise.allSettled([handler(event, lambdaContext())]);
    expect([...calls]).toEqual(listDeclared(otherFunctions[name].uses));
  });
});

describe('enqueueWebhooks', () => {
  it('makes every call that its role allows, and no other', async () => {
    const { handler } = await load(otherFunctions.enqueueWebhooks.entry);
    const user_id = 'auth0|told';
    const webhook = 'http://127.0.0.1:1/';
    await writeApi(db).createBatch(user_id, newBatch(1, { webhook }));
    forgetCalls();
    const image = (attributes: object) => ({ dynamodb: { NewImage: attributes, SequenceNumber: '1' } });
    const row = {
      user_id: { S: user_id },
      id: { S: uuid('a', 1) },
      batch_id: { S: uuid('b', 1) },
      status: { S: 'DONE' },
      updated_at: { S: '2026-11-21T16:45:20.180000Z' },
      results_key: { NULL: true },
    };
    const Records = [image(row), image({ ...row, status: { S: 'LOST' } })];
    expect(await handler({ Records }, lambdaContext())).toEqual({ batchItemFailures: [] });
    expectCalls(otherFunctions.enqueueWebhooks.uses);
  });
});

describe('sealSegments', () => {
  it('makes every call that its role allows, and no other', async () => {
    const { handler } = await load(otherFunctions.sealSegments.entry);
    const userId = 'auth0|owner of old rows';
    const [row] = sample(batchRows(userId, 1));
    const rows = Array.from({ length: 37 * batchList.columns.facets.rowsPerBlock }, (_, seq) => ({
      ...row!,
      seq,
      id: uuid('d', seq),
    }));
    await loadList(client, names, { list: batchList, userId, rows, only: new Set() });
    const { dictionaries } = storedColumns(batchList, rows.slice(0, 1)).head;
    const failed = (first: number) => rows.slice(first, first + 12).map((row) => ({ ...row, status: 'ERROR' }));
    const change = (first: number) =>
      writeAll(
        client,
        Array.from(changeItems(batchList, failed(first), dictionaries), ([key, item]) => [
          names.Columns,
          { user_id: userId, key, t: changeToken(), ...item },
        ]),
      );
    const record = (key: string) => ({ dynamodb: { Keys: { user_id: { S: userId }, key: { S: key } } } });
    forgetCalls();
    for (const key of ['b#f#0000036', 'b#hc#0000000', 'b#hc#0000020']) {
      if (key.startsWith('b#hc#')) await change(Number(key.slice(5)));
      vi.setSystemTime(Date.now() + 15_000);
      expect(await handler({ Records: [record(key)] }, lambdaContext())).toEqual({ batchItemFailures: [] });
    }
    vi.useRealTimers();
    // Lambda sends to the dead letters.
    calls.add('Recovery/dead_letters SendMessage');
    expectCalls(otherFunctions.sealSegments.uses);
  });
});

describe('deliverWebhooks', () => {
  it('makes every call that its role allows, and no other', async () => {
    const { handler } = await load(otherFunctions.deliverWebhooks.entry);
    const results_key = `results/${owner}/webhook.json`;
    await results.put(results_key, { counter: { 0: 1 } });
    const message = {
      id: 'msg_1',
      // No server listens there.
      webhook: 'http://127.0.0.1:1/',
      user_id: owner,
      batch_id: uuid('b', 1),
      job: { id: uuid('a', 1), results_key },
      status: 'DONE',
      updated_at: '2026-11-21T16:45:20.180000Z',
      attempts: 0,
      wait_seconds: 0,
    };
    const waited = { ...message, waiting_since: message.updated_at };
    expect(await handler(sqsEvent([message, waited, 'cannot be read']), lambdaContext())).toEqual({
      batchItemFailures: [],
    });
    expectCalls(otherFunctions.deliverWebhooks.uses);
  });
});

describe('rotateWebhookKey', () => {
  it('makes every call that its role allows, and no other', async () => {
    const { handler } = await load(otherFunctions.rotateWebhookKey.entry);
    await handler({});
    await secrets.rotate(webhookKeyArn, handler);
    expectCalls(otherFunctions.rotateWebhookKey.uses);
  });
});
