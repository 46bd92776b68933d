import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { startDynamoDbLocal } from '../../infra/local/dynamodb/dynamodb-local.ts';
import type { StackDescription } from '../../infra/local/greeting.ts';
import { seed } from '../support/seed.ts';
import { kill, type StackCommand, startCommand } from '../support/stack-command.ts';

const options = ['--batches', '0', '--data', 'data'];
const repairScript = join(import.meta.dirname, '../../infra/repair/repair.ts');

/** Numbers of jobs: some fit into one transaction, others take several. */
const jobCounts = [0, 1, 5, 110, 40];
const writers = 4;
const crashes = 2;

// It outlives every kill: DynamoDB Local itself loses what it acknowledged last before a SIGKILL,
// and DynamoDB does not.
const database = await startDynamoDbLocal();
const environment = { PORT: '0', AWS_ENDPOINT_URL_DYNAMODB: database.endpoint };

let running: StackCommand;

afterAll(async () => {
  await running?.stop();
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

function repair(directory: string, ...args: string[]): Promise<{ code: number; printed: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [repairScript, ...args], { cwd: directory }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), printed: stdout + stderr }),
    );
  });
}

it(`loses nothing and writes nothing twice when everything but the database is killed in the middle of writes (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  const sent: Event[] = [];
  let batches = 0;
  /** Numbers of jobs of the batches whose events were all reported as applied. */
  const acknowledged = new Map<string, number>();
  running = startCommand(environment, options);
  const { directory } = running;
  let stack = await running.ready();
  const { userId } = stack.users[0]!;
  const list = async (path: string) => {
    const response = await fetch(`${stack.baseUrl}${path}`, {
      headers: { Authorization: `Bearer ${stack.users[0]!.token}` },
    });
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
    await expect.poll(() => acknowledged.size, { timeout: 30_000 }).toBeGreaterThan(before);
    await wait(1_000 + ((seed >>> crash) % 1_000));
    await kill(running);
    await Promise.all(dead);
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
    expect(compared.printed).toContain('1 users, 0 with differences.');
    expect(compared.code).toBe(0);
  }

  // Their sender does not know which were applied, so they are sent again: once in order, once
  // backwards.
  for (const events of [sent, sent.toReversed()]) {
    for (let at = 0; at < events.length; at += 200) {
      expect(await send(stack, events.slice(at, at + 200))).toMatchObject({ pending: 0, failures: [] });
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
