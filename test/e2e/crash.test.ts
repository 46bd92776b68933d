import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { startDynamoDbLocal } from '../../infra/local/dynamodb/dynamodb-local.ts';
import type { StackDescription } from '../../infra/local/greeting.ts';
import { deep } from '../support/depth.ts';
import { fetchPatiently, hang } from '../support/patience.ts';
import { seed } from '../support/seed.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { kill, type StackCommand, startCommand } from '../support/stack-command.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const options = ['--batches', '0', '--data', 'data', '--deliver-webhooks'];
const repairScript = join(import.meta.dirname, '../../infra/repair/repair.ts');

/** Numbers of jobs: some fit into one transaction, others take several. */
const jobCounts = [0, 1, 5, 110, 40];
const writers = 4;
const crashes = deep ? 3 : 1;
/** Batches with a webhook that are canceled just before each crash, and the jobs of each. */
const canceledBatches = 4;
const canceledJobs = 5;

// It outlives every kill: DynamoDB Local itself loses what it acknowledged last before a SIGKILL,
// and DynamoDB does not.
const database = await startDynamoDbLocal();
const environment = { PORT: '0', AWS_ENDPOINT_URL_DYNAMODB: database.endpoint };

const receiver = await startWebhookReceiver();
let running: StackCommand;

afterAll(async () => {
  await running?.stop();
  await receiver.stop();
  await database.stop();
});

interface Event {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * The events of one batch: its creation, further jobs, every second job done (at most 8), the batch
 * done.
 */
function eventsOfBatch(userId: string, number: number): Event[] {
  const [batchId, count] = [randomUUID(), jobCounts[number % jobCounts.length]!];
  const newJobs = (length: number) => Array.from({ length }, () => ({ id: randomUUID(), runs: 100 }));
  const [first, later] = [newJobs(count), newJobs(count)];
  const done = [...first, ...later].filter((_, at) => at % 2 === 0);
  const owned = { project_id: randomUUID(), device_type: 'FRESNEL', queue_priority: 'HIGH', open: true };
  const events = [
    { type: 'batch.created', data: { id: batchId, ...owned, jobs: first, tags: [`number ${number % 3}`] } },
    ...(count === 0 ? [] : [{ type: 'jobs.added', data: { batch_id: batchId, jobs: later } }]),
    ...done.slice(0, 8).map(({ id }) => ({ type: 'job.updated', data: { job_id: id, status: 'DONE' } })),
    { type: 'batch.updated', data: { batch_id: batchId, status: 'DONE', open: false } },
  ];
  const time = Date.UTC(2026, 0, 1) + number * 1000;
  return events.map((event, at) => ({
    id: randomUUID(),
    time: new Date(time + at).toISOString(),
    user_id: userId,
    ...event,
  }));
}

function jobsOf(events: readonly Event[]): number {
  return events.flatMap(({ data }) => (data.jobs as unknown[]) ?? []).length;
}

/** Sends the events to the running stack. Rejects when the stack dies. */
async function send({ baseUrl }: StackDescription, events: readonly Event[]) {
  const response = await fetch(`${baseUrl}/_local/events`, { method: 'POST', body: JSON.stringify(events) });
  return (await response.json()) as { pending: number; failures: unknown[] };
}

interface Row {
  readonly id: string;
  readonly status: string;
  readonly jobs: readonly Row[];
}

/** Calls as the second user. */
async function call({ baseUrl, users }: StackDescription, path: string, method = 'GET', body?: object) {
  const headers = {
    Authorization: `Bearer ${users[1]!.token}`,
    'Content-Type': 'application/json',
    ...(method === 'POST' && { 'Idempotency-Key': randomUUID() }),
  };
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetchPatiently(baseUrl + path, { method, headers, ...init });
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: Row }).data;
}

/** Creates batches with a webhook and cancels them. Returns their ids. */
async function cancelBatches(stack: StackDescription): Promise<string[]> {
  const content = {
    project_id: randomUUID(),
    device_type: 'EMU_MPS',
    sequence_builder: sequenceText(),
    webhook: receiver.url,
    jobs: Array.from({ length: canceledJobs }, () => ({ runs: 1 })),
  };
  const create = () => call(stack, '/api/v1/batches', 'POST', content);
  const batches = await Promise.all(Array.from({ length: canceledBatches }, create));
  await Promise.all(batches.map(({ id }) => call(stack, `/api/v2/batches/${id}/cancel`, 'PATCH')));
  return batches.map(({ id }) => id);
}

/** The ends that the receiver got: by job or batch and status, the ids of their messages. */
function delivered(): Map<string, Set<string>> {
  const ends = new Map<string, Set<string>>();
  for (const { headers, body } of receiver.messages) {
    const { data } = JSON.parse(body.toString());
    const end = `${data.job_id ?? data.batch_id} ${data.status}`;
    ends.set(end, (ends.get(end) ?? new Set()).add(String(headers['webhook-id'])));
  }
  return ends;
}

/** Every cancellation was answered before its kill: all ends come, each under one id. */
async function expectEnds(stack: StackDescription, batchIds: readonly string[]) {
  const batches = await Promise.all(batchIds.map((id) => call(stack, `/api/v2/batches/${id}`)));
  const rows = batches.flatMap((batch) => [batch, ...batch.jobs]);
  expect(rows).toHaveLength(crashes * canceledBatches * (1 + canceledJobs));
  expect(rows.filter(({ status }) => status !== 'CANCELED')).toEqual([]);
  const ends = rows.map(({ id, status }) => `${id} ${status}`);
  await expect.poll(() => delivered().size, hang).toBeGreaterThanOrEqual(ends.length);
  const messages = delivered();
  expect(ends.filter((each) => !messages.has(each))).toEqual([]);
  expect([...messages.values()].filter((idsOfEnd) => idsOfEnd.size > 1)).toEqual([]);
  expect(new Set([...messages.values()].flatMap((idsOfEnd) => [...idsOfEnd])).size).toBe(messages.size);
}

function repair(directory: string, ...args: string[]): Promise<{ code: number; printed: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [repairScript, ...args], { cwd: directory }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), printed: stdout + stderr }),
    );
  });
}

it(`loses nothing, writes nothing twice and delivers every end under one id when everything but the database is killed in the middle of writes (seed ${seed})`, async () => {
  const sent: Event[] = [];
  const canceled: string[] = [];
  let batches = 0;
  /** Numbers of jobs of the batches whose events were all reported as applied. */
  const acknowledged = new Map<string, number>();
  running = startCommand(environment, options);
  const { directory } = running;
  let stack = await running.ready();
  const { userId } = stack.users[0]!;
  const list = async (path: string) => {
    const headers = { Authorization: `Bearer ${stack.users[0]!.token}` };
    const response = await fetchPatiently(`${stack.baseUrl}${path}`, { headers });
    return (await response.json()) as { pagination: { total: number }; data: { id: string; jobs_count: number }[] };
  };

  for (let crash = 0; crash < crashes; crash += 1) {
    const write = async () => {
      for (;;) {
        const events = eventsOfBatch(userId, batches++);
        sent.push(...events);
        const { pending, failures } = await send(stack, events);
        if (pending === 0 && failures.length === 0) acknowledged.set(String(events[0]!.data.id), jobsOf(events));
      }
    };
    const before = acknowledged.size;
    const dead = Array.from({ length: writers }, () => expect(write()).rejects.toThrow());
    await expect.poll(() => acknowledged.size, hang).toBeGreaterThan(before);
    // Messages that are on their way when everything dies were received, but not answered.
    receiver.answer = () => undefined;
    canceled.push(...(await cancelBatches(stack)));
    await wait((seed >>> (8 * crash)) % 1_000);
    await kill(running);
    await Promise.all(dead);
    receiver.answer = (_, response) => response.writeHead(204).end();
    running = startCommand(environment, options, { directory });
    stack = await running.ready();

    const ids = [...acknowledged.keys()];
    for (let at = 0; at < ids.length; at += 100) {
      const asked = ids.slice(at, at + 100);
      const { data } = await list(`/api/v1/batches?status=DONE&${asked.map((id) => `id=${id}`).join('&')}`);
      expect(new Map(data.map(({ id, jobs_count }) => [id, jobs_count]))).toEqual(
        new Map(asked.map((id) => [id, acknowledged.get(id)])),
      );
    }

    // Every transaction was made in full or not at all: there is nothing to mend.
    const compared = await repair(directory);
    expect(compared.printed).toContain('4 users, 0 with differences.');
    expect(compared.code).toBe(0);
  }

  await expectEnds(stack, canceled);

  // Their sender does not know which were applied, so they are sent again: once in order, once
  // backwards.
  for (const events of [sent, sent.toReversed()]) {
    for (let at = 0; at < events.length; at += 200) {
      await expect
        .poll(() => send(stack, events.slice(at, at + 200)), hang)
        .toMatchObject({ pending: 0, failures: [] });
    }
  }
  const total = async (path: string) => (await list(path)).pagination.total;
  const of = (type: string) => sent.filter((event) => event.type === type);
  const jobs = jobsOf(sent);
  const done = of('job.updated').length;
  expect(await total('/api/v1/batches?limit=1')).toBe(batches);
  expect(await total('/api/v1/batches?limit=1&status=DONE&open=false')).toBe(batches);
  expect(await total('/api/v2/jobs?limit=1')).toBe(jobs);
  expect(await total('/api/v2/jobs?limit=1&status=DONE')).toBe(done);
  expect(await total('/api/v2/jobs?limit=1&status=PENDING')).toBe(jobs - done);
  expect(await repair(directory)).toMatchObject({ code: 0 });
  expect(await repair(directory, '--fix')).toMatchObject({ code: 0 });
});
