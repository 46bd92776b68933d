/**
 * Erasing and exporting a user. The tests put markers into every kind of row, object and message.
 * Afterwards they search all items and the files of DynamoDB, of the bucket and of the queues.
 */

import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { PutCommand, ScanCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { addJobs, createBatch } from '../../functions/data/batches/new-batches.ts';
import { signUploadLink } from '../../functions/data/batches/results.ts';
import { changeLimits } from '../../functions/data/limits/limits-of-subjects.ts';
import { sumUsage, usageOfItem } from '../../functions/data/limits/usage-sums.ts';
import { readLimitCounters } from '../../functions/data/limits/used-of-limits.ts';
import { auditWrite } from '../../functions/data/rows/acts.ts';
import { getCalibration, reportCalibration } from '../../functions/data/rows/calibrations.ts';
import { submitQuizzes } from '../../functions/data/rows/quizzes.ts';
import { countHostCall } from '../../functions/data/webhooks/host-limits.ts';
import { putDelivery, putWebhookAttempt } from '../../functions/data/webhooks/webhook-attempts.ts';
import { queues } from '../../functions/queues.ts';
import { AddJobsRequest, CreateBatchRequest } from '../../functions/schemas/batch-request.ts';
import { Limits } from '../../functions/schemas/limits.ts';
import { type TableName, tables } from '../../functions/tables.ts';
import { timeLimits } from '../../functions/time-limits.ts';
import { leasedResultsKey } from '../../functions/values/results-key.ts';
import { startDynamoDbLocal } from '../../infra/local/dynamodb/dynamodb-local.ts';
import { ownerPrincipal } from '../../infra/local/iam/principals.ts';
import { directoryObjects } from '../../infra/local/s3/object-files.ts';
import { startObjectStore } from '../../infra/local/s3/object-store.ts';
import { putMarker, putVersion } from '../../infra/local/s3/object-versions.ts';
import { startQueueService } from '../../infra/local/sqs/queue-service.ts';
import { eraseUser, lookAgainSeconds, whatStays } from '../../infra/user-data/erase-user.ts';
import { exportUser } from '../../infra/user-data/export-user.ts';
import type { StackData } from '../../infra/user-data/stack-data.ts';
import { findItems, userItems } from '../../infra/user-data/user-items.ts';
import { createTables } from '../support/create-tables.ts';
import { isFinished } from '../support/dying-client.ts';
import { interceptedClient } from '../support/intercepted-client.ts';
import { uuid } from '../support/new-batch.ts';
import { recountOf } from '../support/owner-rows.ts';
import { deviceContent, sequenceText } from '../support/sequence-text.ts';
import { testClient } from '../support/test-client.ts';
import { testDb } from '../support/test-db.ts';
import { leaseFrom, workerStack } from '../support/worker-stack.ts';
import { writeApi } from '../support/write-api.ts';

const dynamodbFiles = mkdtempSync(join(tmpdir(), 'erase-user-dynamodb-'));
const dynamodb = await startDynamoDbLocal({ dataDirectory: dynamodbFiles });
const client = testClient(dynamodb.endpoint);
const names = await createTables(client, '');
const directory = mkdtempSync(join(tmpdir(), 'erase-user-'));
const owner = ownerPrincipal('000000000000');
const principals = new Map([[owner.credentials.accessKeyId, owner]]);
const bucket = 'results';
const files = directoryObjects(join(directory, 'objects'));
const store = await startObjectStore({ buckets: [{ name: bucket, policy: [] }], principals, files });
const sqs = await startQueueService(principals);
const queueNames = Object.keys(queues).flatMap((name) => [`${name}Queue`, `${name}DeadLetters`]);
const urls = Object.fromEntries(queueNames.map((name) => [name, `${sqs.url}/1/${name}`]));
sqs.create(
  queueNames.map((name) => ({ name, arn: name, url: urls[name]!, visibilityTimeoutSeconds: 30 })),
  join(directory, 'queues'),
);
afterAll(async () => {
  await Promise.all([store.stop(), sqs.stop(), dynamodb.stop()]);
  for (const each of [directory, dynamodbFiles]) rmSync(each, { recursive: true });
});
const common = { region: 'eu-west-3', credentials: owner.credentials };
const db = testDb(client, names);
const data: StackData = {
  ...{ ...db, name: 'a stack', queues: urls, logDays: 7 },
  results: { name: bucket, client: new S3Client({ ...common, endpoint: store.url }) },
  sqs: new SQSClient({ ...common, endpoint: sqs.url }),
};
const writer = writeApi(db);
await changeLimits(db, {
  ...{ operator: 'oscar', subject: `project:${uuid('c', 1)}` },
  limits: Limits.parse({ max_unfinished_batches: 1_000 }),
});
let user: string;
let other: string;
beforeEach(() => {
  user = `auth0|ann ${randomUUID()}`;
  // Its results lie below the first user's results.
  other = `${user}/bob`;
});

const markerOf = (userId: string) => `planted-${createHash('sha256').update(userId).digest('hex')}`;
const sequenceOf = (userId: string) => {
  const marker = markerOf(userId);
  return sequenceText({ device: deviceContent(marker), variables: { [marker]: { type: 'float', value: [0] } } });
};

/**
 * A user with something in every place, and the marker in every field that takes text; a batch
 * waits, or a device has it.
 */
async function plant(userId: string, leased: boolean) {
  const marker = markerOf(userId);
  const claims = { queue_priority: 'LOW', user_name: `Ann ${marker}` } as const;
  const call = { userId, idempotencyKey: marker, claims };
  const body = {
    ...{ project_id: uuid('c', 1), device_type: 'FRESNEL', sequence_builder: sequenceOf(userId), tags: [marker] },
    ...{ configuration: { [marker]: marker }, backend_configuration: marker },
  };
  const job = { variables: { [marker]: 1 } };
  await changeLimits(db, {
    ...{ operator: 'oscar', subject: `user:${userId}` },
    limits: Limits.parse({ creations_per_minute: 1_000 }),
  });
  const request = CreateBatchRequest.parse({
    ...body,
    webhook: `https://a.example/${marker}`,
    open: true,
    jobs: [job, job],
  });
  const { id, jobs = [] } = await createBatch(db, call, request);
  await addJobs(db, call, { batchId: id, body: AddJobsRequest.parse([{ sequence: sequenceOf(userId) }]) });
  const ended = await createBatch(db, { userId, claims }, CreateBatchRequest.parse({ ...body, jobs: [job] }));
  const results_key = `results/${userId}/${marker}.json`;
  await writer.recordJobStatus(userId, ended.jobs![0]!.id, { status: 'ERROR', errors: [marker], results_key });
  await writer.recordBatchStatus(userId, ended.id, { status: 'TIMED_OUT', device_status: marker });
  for (const name of [`${jobs[0]!.id}/3/${'0f'.repeat(32)}`, 'chosen']) {
    const object = {
      content: Buffer.from(`{"user":"${userId} ${marker}"}`),
      contentType: 'application/json',
      modified: new Date().toUTCString(),
    };
    for (let version = 0; version < 2; version++) {
      await putVersion(files, `${bucket}/results/${userId}/${name}.json`, object, Date.now());
    }
  }
  await putMarker(files, `${bucket}/results/${userId}/gone.json`, Date.now());
  await submitQuizzes(db, userId, [{ cms_quiz_id: 'quiz', position: 0, data: JSON.stringify({ marker }) }] as never);
  const attempt = { outcome: 'RETRYING', reason: marker, type: null, job_id: null, attempts: 1 } as const;
  const batch = { user_id: userId, batch_id: id };
  await putWebhookAttempt(db, batch, { ...attempt, attempted_at: null, next_attempt_at: null });
  const sent = { type: 'webhook.test', job_id: null, attempt: 1, duration_ms: 1, status: null } as const;
  await putDelivery(db, batch, { ...sent, sent_at: '2026-11-22T12:00:00.000000Z', reason: marker });
  await countHostCall(db, userId, `${marker}.example`);
  const after = { device_status: `${claims.user_name} canceled it.` };
  const act = { action: 'batch.cancel', reason: 'why', before: null, after: null } as const;
  const writes = [
    { operator: 'oscar', target: { user_id: userId, batch_id: id } },
    { operator: userId, operator_name: claims.user_name, target: { user_id: 'someone', batch_id: id }, after },
  ].map((each) => auditWrite(db, { ...act, at: '2026-11-22T10:00:00.000000Z', ...each }));
  await client.send(new TransactWriteCommand({ TransactItems: writes }));
  for (const queue of sqs.queues()) {
    queue.send({ body: JSON.stringify({ user_id: userId, batch_id: id }) });
    queue.send({ body: `cannot be read: "${userId}"` });
  }
  if (leased) {
    const { Items = [] } = await client.send(new ScanCommand({ TableName: names.DeviceQueue }));
    const item = Items.find(({ user_id }) => user_id === userId);
    const Item = { ...item, lease_until: Date.now() + 60_000 };
    await client.send(new PutCommand({ TableName: names.DeviceQueue, Item }));
  }
}

/** Of each text: every item, object and message that holds it, by its place. */
async function placesOf<Texts extends readonly string[]>(...texts: Texts) {
  const places = texts.map((): string[] => []);
  const note = (content: string, place: string) => {
    for (const [at, text] of texts.entries()) if (content.includes(text)) places[at]!.push(place);
  };
  for (const [table, TableName] of Object.entries(names)) {
    const { Items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
    for (const item of Items) note(JSON.stringify(item), table);
  }
  for (const path of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!path.isFile()) continue;
    const file = join(path.parentPath, path.name);
    note(`${decodeURIComponent(file)}\n${readFileSync(file, 'utf8')}`, file.slice(directory.length));
  }
  return places as { [At in keyof Texts]: string[] };
}

async function usageOf(userId: string) {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: names.Usage, ConsistentRead: true }));
  return sumUsage(Items.map(usageOfItem).filter((usage) => usage.userId === userId));
}

async function unfinishedOfProject() {
  const subject = `project:${uuid('c', 1)}`;
  const counter = (await readLimitCounters(db, [subject])).get(subject)!;
  return { batches: counter.max_unfinished_batches, jobs: counter.max_unfinished_jobs };
}

describe('the facts about users', () => {
  it('name every table', () => {
    expect(Object.keys(userItems).sort()).toEqual(Object.keys(tables).sort());
    expect(Object.keys(userItems)[0]).toBe('DeviceQueue' satisfies TableName);
  });
});

describe('eraseUser', () => {
  it('erases every place of a user, keeps sums and acts under a pseudonym, and touches no other user', async () => {
    await plant(user, false);
    await plant(other, false);
    // What names the other names the user, too.
    const [found, ofBoth, ofOther] = await placesOf(`"${user}"`, user, other);
    for (const place of Object.keys(tables).filter(
      (table) => !['Devices', 'Calibrations', 'Usage', 'Limits', 'Counters'].includes(table),
    )) {
      expect(found, place).toContain(place);
    }
    expect(ofBoth.length - ofOther.length).toBeGreaterThan(20);
    const sums = await usageOf(user);
    expect(sums).toHaveLength(1);
    const lines: string[] = [];
    const pseudonym = `erased-${randomUUID()}`;
    const erase = () => eraseUser(data, { userId: user, pseudonym, force: false, report: (line) => lines.push(line) });
    const waiting = await unfinishedOfProject();
    await erase();
    expect(await unfinishedOfProject()).toEqual({ batches: waiting.batches - 1, jobs: waiting.jobs - 3 });
    const left = await placesOf(user, other, markerOf(user), pseudonym);
    expect(left[0]).toHaveLength(ofOther.length);
    expect(left[1]).toHaveLength(ofOther.length);
    expect(left[2]).toEqual([]);
    expect(await usageOf(pseudonym)).toEqual(sums.map((usage) => ({ ...usage, userId: pseudonym })));
    const { Items: ofPseudonym } = await client.send(
      new ScanCommand({
        TableName: names.Audit,
        FilterExpression: '#operator = :pseudonym',
        ExpressionAttributeNames: { '#operator': 'operator' },
        ExpressionAttributeValues: { ':pseudonym': pseudonym },
      }),
    );
    expect(ofPseudonym).toMatchObject([{ after: { device_status: `${pseudonym} canceled it.` } }]);
    // Two acts of others and of the user, its limits set, and taken away by this.
    expect(left[3].filter((place) => place === 'Audit')).toHaveLength(4);
    expect(await recountOf(client, names, user)).toEqual([]);
    expect(await recountOf(client, names, other)).toEqual([]);
    expect(lines).toEqual(
      expect.arrayContaining(['Batches: 2', 'results: 5 versions', 'EventsDeadLetters: 2 messages']),
    );
    expect(sqs.queues().filter((queue) => queue.hidden() > 0)).toEqual([]);
    lines.length = 0;
    await erase();
    expect(lines).toEqual([]);
    await plant(user, false);
    expect(await recountOf(client, names, user)).toEqual([]);
  });

  it('refuses while a device has a batch, and erases nothing, unless it is forced', async () => {
    await plant(user, true);
    const [before] = await placesOf(user);
    const erase = (force: boolean) => eraseUser(data, { userId: user, pseudonym: 'erased-1', force });
    await expect(erase(false)).rejects.toThrow('The device FRESNEL has a batch of this user');
    expect(await placesOf(user)).toEqual([before]);
    await erase(true);
    expect(await placesOf(user)).toEqual([[]]);
  });

  it('goes on where it was interrupted, and minds no lease that has ended', async () => {
    await plant(user, true);
    const clock = { ...db.clock, now: () => Date.now() + 60_000 };
    const sums = await usageOf(user);
    const pseudonym = `erased-${randomUUID()}`;
    let calls = 0;
    let mayMake = 0;
    const dying = interceptedClient(client, async (call) => {
      if (/BatchWrite|TransactWrite/.test(call.name)) calls += 1;
      if (calls > mayMake) throw new Error('killed');
      return call.send();
    });
    const erase = (through: typeof client) =>
      eraseUser({ ...data, client: through, clock }, { userId: user, pseudonym, force: false });
    const waiting = await unfinishedOfProject();
    let finished = false;
    // By turns after the first and the second write: each write is the last of a turn.
    for (let turn = 0; !finished && turn < 60; turn++) {
      calls = 0;
      mayMake = 1 + (turn % 2);
      const erasing = erase(dying);
      finished = await isFinished(erasing);
    }
    expect(finished).toBe(true);
    expect(await placesOf(user)).toEqual([[]]);
    expect(await unfinishedOfProject()).toEqual({ batches: waiting.batches - 1, jobs: waiting.jobs - 3 });
    expect(await recountOf(client, names, user)).toEqual([]);
    expect(await usageOf(pseudonym)).toEqual(sums.map((usage) => ({ ...usage, userId: pseudonym })));
  });

  it('changes no number and no word of acts that is no name of the user', async () => {
    user = String(100_000_000 + Math.floor(Math.random() * 1e8));
    const target = { user_id: user, device_type: 'FRESNEL' };
    const act = { action: 'batch.cancel', operator: 'oscar', reason: 'constructor', before: { runs: +user } } as const;
    const at = '2026-11-22T10:00:00.000000Z';
    const write = auditWrite(db, { ...act, at, target, after: null });
    await client.send(new TransactWriteCommand({ TransactItems: [write] }));
    await eraseUser(data, { userId: user, pseudonym: 'erased-3', force: false });
    const { Items = [] } = await client.send(new ScanCommand({ TableName: names.Audit }));
    const of = Items.filter((item) => item.target.user_id === 'erased-3');
    expect(of).toMatchObject([{ ...act, target: { ...target, user_id: 'erased-3' } }]);
  });

  it('replaces the id within the reasons of all acts, but no longer id or word that contains it', async () => {
    user = `ann.(${randomUUID().slice(0, 8)}`;
    const others = [
      `${user}2`,
      `x${user}`,
      `${user}-2`,
      `${user}.b`,
      `auth0|${user}`,
      `${user}@b.example`,
      `a:${user}`,
    ];
    const mentions = (id: string) =>
      `For ${id}, (user:${id}), “${id}’s”: ${id}. @${id}\nnot ${others.join(' ')} user:${user}2`;
    const at = '2026-11-22T10:00:00.000000Z';
    const write = auditWrite(db, {
      ...{ action: 'device.settings', operator: 'oscar', at, target: { device_type: user }, reason: mentions(user) },
      ...{ before: { mode: user }, after: { windows: [{ reason: mentions(user) }] } },
    } as never);
    await client.send(new TransactWriteCommand({ TransactItems: [write] }));
    const pseudonym = `erased-${randomUUID()}`;
    await eraseUser(data, { userId: user, pseudonym, force: false });
    const { Items = [] } = await client.send(new ScanCommand({ TableName: names.Audit }));
    const reason = mentions(pseudonym);
    expect(Items.filter((item) => item.reason === reason)).toMatchObject([
      { operator: 'oscar', target: { device_type: user }, before: { mode: user }, after: { windows: [{ reason }] } },
    ]);
  });

  it('deletes more messages than come at a time', async () => {
    const seen = `auth0|${randomUUID()}`;
    for (let sent = 0; sent < 21; sent++) sqs.queues()[4]!.send({ body: JSON.stringify({ user_id: seen }) });
    await eraseUser(data, { userId: seen, pseudonym: 'erased-2', force: false });
    expect(await placesOf(seen)).toEqual([[]]);
  });

  /** Runs that go on where the one before ended, each `seconds` after it. */
  function runsOf(userId: string, queueUrls = urls) {
    let now = Date.now();
    let emptySince: number | undefined;
    return async (seconds: number) => {
      now += 1_000 * seconds;
      const at = { ...data, queues: queueUrls, clock: { ...db.clock, now: () => now } };
      const erased = await eraseUser(at, { userId, pseudonym: 'erased-5', force: true, emptySince });
      emptySince = erased.emptySince;
      return erased.waitSeconds;
    };
  }

  it('is done when nothing of before can come back: neither by a link nor by a message', async () => {
    await plant(user, true);
    const content = '{}';
    const sha256 = createHash('sha256').update(content).digest('hex');
    const key = leasedResultsKey(user, uuid('e', 1), { fence: 1, sha256 });
    const { url, headers } = await signUploadLink(data.results, key, { bytes: content.length, sha256 });
    const run = runsOf(user);
    expect(await run(0)).toBe(lookAgainSeconds);
    expect((await fetch(url, { method: 'PUT', headers, body: content })).status).toBe(200);
    expect(await run(timeLimits.uploadLink)).toBe(lookAgainSeconds);
    sqs.queues()[4]!.send({ body: JSON.stringify({ user_id: user }) });
    expect(await run(lookAgainSeconds)).toBe(lookAgainSeconds);
    expect(await run(100)).toBe(lookAgainSeconds - 100);
    expect(await run(lookAgainSeconds - 100)).toBe(0);
    expect(await placesOf(user)).toEqual([[]]);
    // Another machine has no record of these runs.
    expect(await runsOf(user)(0)).toBe(lookAgainSeconds);
  });

  it.each([
    ['RecoveryQueue', 'delayed', 0],
    ['WebhooksQueue', 'delayed', 0],
    ['RecoveryQueue', 'under way', 120],
  ] as const)('%s: a message of anyone that is %s makes it wait %s s', async (name, state, waitSeconds) => {
    const unread = `${name}-${randomUUID()}`;
    const url = `${sqs.url}/1/${unread}`;
    sqs.create([{ name: unread, arn: unread, url, visibilityTimeoutSeconds: 30 }], join(directory, 'queues'));
    const run = runsOf(user, { [name]: url });
    await run(0);
    await data.sqs.send(
      new SendMessageCommand({ QueueUrl: url, MessageBody: '{}', DelaySeconds: state === 'delayed' ? 600 : 0 }),
    );
    if (state === 'under way') {
      const { Messages } = await data.sqs.send(new ReceiveMessageCommand({ QueueUrl: url, VisibilityTimeout: 600 }));
      expect(Messages).toHaveLength(1);
    }
    expect(await run(lookAgainSeconds)).toBe(waitSeconds);
  });

  it('says what stays, and until when', () => {
    const lines = whatStays({ logDays: 7 }, Date.parse('2026-11-22T12:00:00Z'));
    expect(lines.join('\n')).toMatch(/2026-12-27 {2}DynamoDB's backups.*35 days.*2026-11-29 {2}logs of functions/s);
  });
});

describe('exportUser', () => {
  it('writes everything of a user, with checksums that hold, and nothing of others', async () => {
    user = `${user}/../../..`;
    const others = [`${user}-2`, `${user}/bob`];
    for (const each of [user, ...others]) await plant(each, false);
    const to = join(directory, 'export');
    const n = 2n ** 60n;
    for await (const [Item] of findItems(data, 'Quizzes', user))
      await client.send(new PutCommand({ TableName: data.tables.Quizzes, Item: { ...Item, n } }));
    const count = await exportUser(data, user, to);
    const names = readdirSync(to, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    expect(names).toHaveLength(count + 1);
    execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: to });
    const lines = (table: string) =>
      readFileSync(join(to, `tables/${table}.jsonl`), 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    const counts = Object.fromEntries(Object.keys(tables).map((table) => [table, lines(table).length]));
    expect(counts).toMatchObject({ Batches: 2, Jobs: 4, Sequences: 4, Quizzes: 1, WebhookAttempts: 1, DeviceQueue: 1 });
    expect(counts).toMatchObject({ Limits: 1, Counters: 2, Usage: 1, Audit: 3, Devices: 0, Contributors: 1 });
    const texts = names.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8')).join('\n');
    for (const each of others) expect(texts).not.toContain(each);
    expect(texts).toContain(sequenceOf(user));
    expect(texts).toContain(String(n));
    expect(names.filter(({ parentPath }) => parentPath.includes('/results/'))).toHaveLength(2);
    await expect(exportUser(data, user, to)).rejects.toThrow('is not empty');
    rmSync(to, { recursive: true });
  });

  it('writes the calibration that a job carries, which outlives the user', async () => {
    const device_type = `DEVICE ${randomUUID()}`;
    const calibration = await reportCalibration(db, device_type, {
      numbers: { p_false_pos: 0.01 },
      document: { a: 1 },
    });
    const stack = workerStack(client, names, { now: Date.now() });
    await stack.create(user, { device_type });
    const claim = await stack.claimed(device_type);
    await stack.report(leaseFrom(claim), claim.job.id);
    const to = join(directory, 'export of a calibrated job');
    await exportUser(data, user, to);
    expect(JSON.parse(readFileSync(join(to, 'tables/Jobs.jsonl'), 'utf8'))).toMatchObject({ calibration: 1 });
    await eraseUser(data, { userId: user, pseudonym: `erased-${randomUUID()}`, force: false });
    expect(await stack.job(user, claim.job.id)).toBeUndefined();
    expect(await getCalibration(db, { device_type, number: 1 })).toEqual(calibration);
    expect((await stack.show({ device_type, status: 'UP' })).calibration).toBe(1);
  });
});

describe('the files of DynamoDB', () => {
  /** The ends of a user's compressed sequences, as DynamoDB Local writes bytes. */
  async function sequencesOf(userId: string) {
    const ends: string[] = [];
    for await (const items of findItems(data, 'Sequences', userId))
      for (const { v } of items)
        ends.push(
          Buffer.from(v as Uint8Array)
            .toString('base64')
            .slice(-60),
        );
    return ends;
  }

  it('hold nothing of an erased user', async () => {
    const kept = `auth0|bob ${randomUUID()}`;
    const StreamSpecification = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } as const;
    for (const [name, TableName] of Object.entries(names)) {
      if ('stream' in tables[name as TableName])
        await client.send(new UpdateTableCommand({ TableName, StreamSpecification }));
    }
    for (const each of [user, kept]) await plant(each, false);
    const markers = await Promise.all([user, kept].map(async (id) => [id, markerOf(id), ...(await sequencesOf(id))]));
    await eraseUser(data, { userId: user, pseudonym: 'erased-4', force: false });
    await dynamodb.stop();
    const copy = join(dynamodbFiles, 'copy');
    using original = new DatabaseSync(join(dynamodbFiles, 'shared-local-instance.db'));
    // Freed pages keep their bytes: a copy has none. Large pages cut next to no text in two.
    original.exec(`PRAGMA page_size = 65536; VACUUM INTO '${copy}'`);
    const found = (of: readonly string[] = []) => of.filter((text) => readFileSync(copy).includes(text));
    expect(found(markers[0])).toContain(user);
    using database = new DatabaseSync(copy);
    // The records of streams hold rows as they were, for 24 hours. They cannot be erased, on AWS
    // either. DynamoDB Local keeps them, and nothing else, in this table.
    database.exec('DROP TABLE us; VACUUM');
    expect(found(markers[0])).toEqual([]);
    expect(found(markers[1])).toEqual(markers[1]);
    const holders = Object.entries(names).filter(([, name]) =>
      database.prepare(`SELECT 1 FROM "${name}" WHERE instr(ObjectJSON, CAST(? AS BLOB))`).get(kept),
    );
    expect(holders.map(([name]) => name)).toEqual(
      Object.keys(tables).filter((name) => !['Devices', 'Calibrations'].includes(name)),
    );
  });
});
