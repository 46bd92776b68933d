import type { SQSEvent } from 'aws-lambda';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { queues } from '../../functions/queues.ts';
import type { WebhookMessage } from '../../functions/schemas/webhook-message.ts';
import type { LambdaFunction } from '../../infra/local/lambda/lambda-function.ts';
import { startEventSource } from '../../infra/local/sqs/event-source.ts';
import { Queue } from '../../infra/local/sqs/queue.ts';
import { functionEnvironment } from '../support/function-environment.ts';
import { lambdaContext } from '../support/gateway-event.ts';
import { startMessageSink } from '../support/message-sink.ts';
import { uuid } from '../support/new-batch.ts';
import { hang } from '../support/patience.ts';
import { startSecrets } from '../support/secrets.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const { client, names } = await functionEnvironment();
const [sink, secrets, silent, other] = await Promise.all([
  startMessageSink(),
  startSecrets(client, names),
  startWebhookReceiver(),
  startWebhookReceiver(),
]);
vi.stubEnv('WEBHOOK_REACH', 'loopback');
vi.stubEnv('RESULTS_BUCKET', 'results');
const { handler } = await import('../../functions/consumers/deliver-webhooks.ts');
afterAll(() => Promise.all([sink, secrets, silent, other].map(({ stop }) => stop())));

/** A receiver is waited for 15 s: a busy machine takes long to connect to forty at once. */
const context = () => lambdaContext(18_000);

function consumedQueue(): Queue {
  const { visibilitySeconds, consumer } = queues.Webhooks;
  const definition = { name: 'webhooks', arn: 'arn:aws:sqs:eu-west-3:1:webhooks', url: '' };
  const queue = new Queue({ ...definition, visibilityTimeoutSeconds: visibilitySeconds }, () => undefined);
  const target: LambdaFunction = {
    definition: { name: 'DeliverWebhooks' } as LambdaFunction['definition'],
    invoke: (event) => handler(event as SQSEvent, context()),
    stop: async () => {},
  };
  const { batchSize, concurrency: maxConcurrency } = consumer;
  const source = { queueArn: '', functionArn: '', batchSize, maxConcurrency, reportsItemFailures: true };
  afterAll(startEventSource(source, queue, target));
  return queue;
}

function send(queue: Queue, user_id: string, webhook: string, number: number) {
  const message: WebhookMessage = {
    id: `msg_${user_id}_${number}`,
    webhook,
    user_id,
    batch_id: uuid('b', number),
    job: null,
    status: 'DONE',
    updated_at: '2026-11-21T16:45:20.180000Z',
    attempts: 0,
    wait_seconds: 0,
  };
  queue.send({ body: JSON.stringify(message), groupId: user_id });
}

describe('a receiver that never answers', () => {
  it('keeps the message of another user waiting for one timeout at most, and has one place from then on', async () => {
    silent.answer = () => {};
    const queue = consumedQueue();
    for (let number = 1; number <= 101; number++) send(queue, 'dead', silent.url, number);
    await expect.poll(() => silent.messages.length, hang).toBeGreaterThan(0);
    let silentBefore: number | undefined;
    other.answer = (_, response) => {
      silentBefore = silent.messages.length;
      response.writeHead(204).end();
    };
    send(queue, 'quick', other.url, 1);
    await expect.poll(() => queue.messages().length, hang).toBe(0);
    // Four places of ten messages; then others of the call that takes the message.
    expect(silentBefore).toBeLessThanOrEqual(40 + 9);
    const waiting = sink.messages.filter(({ body }) => JSON.parse(body).attempts === 0);
    expect(silent.messages).toHaveLength(101 - waiting.length);
    // Four more in each minute that has begun meanwhile.
    expect(silent.messages.length).toBeLessThan(60);
  });
});
