import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { startDynamoDbLocal } from '../../infra/local/dynamodb/dynamodb-local.ts';
import type { StackDescription } from '../../infra/local/greeting.ts';
import { seed } from '../support/seed.ts';
import { kill, type StackCommand, startCommand } from '../support/stack-command.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const options = ['--batches', '0', '--data', 'data', '--deliver-webhooks'];
const crashes = 2;
const batchesPerCrash = 4;
const jobsOfBatch = 5;

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

interface Row {
  readonly id: string;
  readonly status: string;
  readonly jobs: readonly Row[];
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

it(`delivers every end, under one id, although everything but the database is killed between commit and delivery (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  running = startCommand(environment, options);
  const { directory } = running;
  let stack: StackDescription = await running.ready();
  const call = async (path: string, method = 'GET', body?: object) => {
    const headers = { Authorization: `Bearer ${stack.users[0]!.token}`, 'Content-Type': 'application/json' };
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(stack.baseUrl + path, { method, headers, ...init });
    expect(response.status).toBe(200);
    return ((await response.json()) as { data: Row }).data;
  };
  const create = () =>
    call('/api/v1/batches', 'POST', {
      project_id: crypto.randomUUID(),
      device_type: 'EMU_MPS',
      sequence_builder: '{"variables":{}}',
      webhook: receiver.url,
      jobs: Array.from({ length: jobsOfBatch }, () => ({ runs: 1 })),
    });

  const ids: string[] = [];
  for (let crash = 0; crash < crashes; crash += 1) {
    // Messages that are on their way when everything dies were received, but not answered.
    receiver.answer = () => undefined;
    const batches = await Promise.all(Array.from({ length: batchesPerCrash }, create));
    ids.push(...batches.map(({ id }) => id));
    await Promise.all(batches.map(({ id }) => call(`/api/v2/batches/${id}/cancel`, 'PATCH')));
    await wait((seed >>> (8 * crash)) % 600);
    await kill(running);
    receiver.answer = (_, response) => response.writeHead(204).end();
    running = startCommand(environment, options, { directory });
    stack = await running.ready();
  }

  const rows = (await Promise.all(ids.map((id) => call(`/api/v2/batches/${id}`)))).flatMap((batch) => [
    batch,
    ...batch.jobs,
  ]);
  // Every cancellation was answered before the kill.
  expect(rows).toHaveLength(crashes * batchesPerCrash * (1 + jobsOfBatch));
  expect(rows.filter(({ status }) => status !== 'CANCELED')).toEqual([]);
  const ends = rows.map(({ id, status }) => `${id} ${status}`);
  for (const end = Date.now() + 60_000; Date.now() < end && delivered().size < ends.length; ) await wait(100);
  const messages = delivered();
  expect(ends.filter((each) => !messages.has(each))).toEqual([]);
  expect([...messages.values()].filter((idsOfEnd) => idsOfEnd.size > 1)).toEqual([]);
  expect(new Set([...messages.values()].flatMap((idsOfEnd) => [...idsOfEnd])).size).toBe(messages.size);
});
