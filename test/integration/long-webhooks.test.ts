/** A receiver that is down for hours, on the local stack: no delay of a queue takes any time. */

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startFrontServer } from '../../infra/local/front-server.ts';
import { accounts } from '../../infra/local/issuer/accounts.ts';
import { startLocalStack } from '../../infra/local/local-stack.ts';
import { delayFactor } from '../../infra/local/sqs/queue-service.ts';
import { dynamodbEndpoint } from '../support/dynamodb-endpoint.ts';
import { hang } from '../support/patience.ts';
import { sequenceText } from '../support/sequence-text.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

let waitedSeconds = 0;
const receiver = await startWebhookReceiver();
const stack = await startLocalStack({
  front: await startFrontServer(0),
  dynamodbEndpoint,
  deliverWebhooks: true,
  logFile: join(tmpdir(), 'long-webhooks.log'),
  onStep: () => undefined,
  after(work, milliseconds) {
    waitedSeconds += (milliseconds * delayFactor) / 1000;
    setImmediate(work);
  },
});
afterAll(() => Promise.all([stack.stop(), receiver.stop()]));

const [account] = accounts;
const headers = { Authorization: `Bearer ${await stack.issuer.token(account!)}`, 'Content-Type': 'application/json' };
const ask = async (method: string, path: string, body?: object) => {
  const request = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  return (
    (await (await fetch(stack.baseUrl + path, request)).json()) as { data: { id: string; webhook_attempt: unknown } }
  ).data;
};

/** Ends a new batch. What is returned reads what became of its message. */
async function endBatch() {
  receiver.messages.length = 0;
  waitedSeconds = 0;
  const { id } = await ask('POST', '/api/v1/batches', {
    project_id: crypto.randomUUID(),
    device_type: 'EMU_MPS',
    sequence_builder: sequenceText(),
    webhook: receiver.url,
    jobs: [{ runs: 1 }],
  });
  await ask('PATCH', `/api/v2/batches/${id}/cancel`);
  return async () => (await ask('GET', `/api/v1/batches/${id}/status`)).webhook_attempt;
}

describe('a receiver that is down', () => {
  it('for four hours gets its sixth attempt, after more calls than Lambda allows by itself', async () => {
    const attempts = new Map<unknown, number>();
    receiver.answer = ({ headers }, response) => {
      const id = headers['webhook-id'];
      attempts.set(id, (attempts.get(id) ?? 0) + 1);
      // The fifth comes two and a half hours after the first, the sixth another five hours later.
      response.writeHead(attempts.get(id)! <= 5 ? 503 : 204).end();
    };
    const attempt = await endBatch();
    await expect.poll(attempt, hang).toMatchObject({ outcome: 'DELIVERED', attempts: 6 });
    await expect.poll(() => [...attempts.values()], hang).toEqual([6, 6]);
    expect(waitedSeconds).toBeGreaterThan(2 * 7 * 3_600);
    expect(stack.events.deadLetters()).toEqual([]);
  });

  it('for good gets seven attempts, and its user reads that it was given up', async () => {
    receiver.answer = (_, response) => response.writeHead(503).end();
    const attempt = await endBatch();
    await expect.poll(() => receiver.messages.length, hang).toBe(14);
    await expect.poll(attempt, hang).toMatchObject({ outcome: 'GIVEN_UP', attempts: 7 });
    expect(waitedSeconds).toBeGreaterThan(2 * 17 * 3_600);
  });
});
