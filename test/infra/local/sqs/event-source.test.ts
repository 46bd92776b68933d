import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LambdaFunction } from '../../../../infra/local/lambda/lambda-function.ts';
import { startEventSource } from '../../../../infra/local/sqs/event-source.ts';
import { Queue } from '../../../../infra/local/sqs/queue.ts';
import type { EventSourceDefinition, QueueDefinition } from '../../../../infra/local/template/deployment.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** 90 s on AWS. */
const visibilityTimeout = 1_500;

let stop: (() => void) | undefined;
afterEach(() => stop?.());

/** A queue with a consumer. */
function consumedQueue(
  handler: (bodies: string[], event: SQSEvent) => unknown,
  rest: Partial<EventSourceDefinition> = {},
  kind: Pick<QueueDefinition, 'fifo'> = { fifo: true },
): Queue {
  const queue = new Queue(
    {
      name: 'queue.fifo',
      arn: 'arn:aws:sqs:eu-west-3:1:queue.fifo',
      url: '',
      visibilityTimeoutSeconds: 90,
      ...kind,
    },
    () => undefined,
  );
  const target: LambdaFunction = {
    definition: { name: 'Consumer' } as LambdaFunction['definition'],
    invoke: async (event) =>
      handler(
        (event as SQSEvent).Records.map(({ body }) => body),
        event as SQSEvent,
      ),
    stop: async () => {},
  };
  const source = { queueArn: '', functionArn: '', batchSize: 10, reportsItemFailures: true, ...rest };
  stop = startEventSource(source, queue, target);
  return queue;
}

const failed = (event: SQSEvent, ...bodies: string[]): SQSBatchResponse => ({
  batchItemFailures: event.Records.filter(({ body }) => bodies.includes(body)).map(({ messageId }) => ({
    itemIdentifier: messageId,
  })),
});

describe('startEventSource', () => {
  it('delivers batches, with all attributes that SQS gives a message', async () => {
    const events: SQSEvent[] = [];
    const queue = consumedQueue((_, event) => void events.push(event), { batchSize: 2 });
    for (const body of ['a', 'b', 'c'])
      queue.send({ body, groupId: 'g', deduplicationId: body, attributes: { from: 'me' } });
    await vi.advanceTimersByTimeAsync(0);
    expect(events.map(({ Records }) => Records.map(({ body }) => body))).toEqual([['a', 'b'], ['c']]);
    expect(events[0]!.Records[0]).toMatchObject({
      eventSourceARN: 'arn:aws:sqs:eu-west-3:1:queue.fifo',
      awsRegion: 'eu-west-3',
      md5OfBody: '0cc175b9c0f1b6a831c399e269772661',
      messageAttributes: { from: { stringValue: 'me', dataType: 'String' } },
      attributes: {
        ApproximateReceiveCount: '1',
        MessageGroupId: 'g',
        MessageDeduplicationId: 'a',
        SequenceNumber: expect.stringMatching(/^\d{20}$/),
      },
    });
    expect(queue.messages()).toEqual([]);
  });

  it('delivers failed messages again after a sixtieth of the visibility timeout, and nothing of their group before', async () => {
    const calls: string[][] = [];
    const queue = consumedQueue((bodies, event) => {
      calls.push(bodies);
      return calls.length === 1 ? failed(event, 'b', 'c') : undefined;
    });
    for (const body of ['a', 'b', 'c']) queue.send({ body, groupId: 'g', deduplicationId: body });
    await vi.advanceTimersByTimeAsync(0);
    queue.send({ body: 'd', groupId: 'g', deduplicationId: 'd' });
    await vi.advanceTimersByTimeAsync(visibilityTimeout - 1);
    expect(calls).toEqual([['a', 'b', 'c']]);
    await vi.advanceTimersByTimeAsync(10);
    expect(calls).toEqual([
      ['a', 'b', 'c'],
      ['b', 'c', 'd'],
    ]);
  });

  it.each<[string, boolean, (event: SQSEvent) => unknown, number]>([
    ['the function throws', true, () => Promise.reject(new Error('broken')), 2],
    ['it names a message that is not there', true, () => ({ batchItemFailures: [{ itemIdentifier: 'x' }] }), 2],
    ['it names one', true, (event) => failed(event, 'a'), 1],
    ['it returns nothing', true, () => null, 0],
    ['it names one, but the mapping does not read that', false, (event) => failed(event, 'a'), 0],
  ])('keeps the messages that failed when %s', async (_, reportsItemFailures, handler, kept) => {
    const queue = consumedQueue((__, event) => handler(event), { reportsItemFailures });
    for (const body of ['a', 'b']) queue.send({ body, groupId: body, deduplicationId: body });
    await vi.advanceTimersByTimeAsync(0);
    expect(queue.messages()).toHaveLength(kept);
  });

  it('keeps the reason of the last failure with the message', async () => {
    const queue = consumedQueue(() => Promise.reject(new Error('broken')));
    queue.send({ body: 'a', groupId: 'g', deduplicationId: 'a' });
    await vi.advanceTimersByTimeAsync(0);
    expect(queue.messages()).toMatchObject([{ failure: 'broken' }]);
  });

  it('runs as many batches at the same time as its concurrency says, one of each group', async () => {
    const running: string[][] = [];
    const queue = consumedQueue((bodies) => new Promise(() => running.push(bodies)), {
      batchSize: 1,
      maxConcurrency: 2,
    });
    for (const [body, groupId] of ['a1', 'a2', 'b1', 'c1'].map((id) => [id, id[0]!]))
      queue.send({ body: body!, groupId: groupId!, deduplicationId: body! });
    await vi.advanceTimersByTimeAsync(0);
    expect(running).toEqual([['a1'], ['b1']]);
  });

  it('delivers nothing after it was stopped', async () => {
    const handler = vi.fn();
    const queue = consumedQueue(handler);
    stop!();
    queue.send({ body: 'a', groupId: 'g', deduplicationId: 'a' });
    await vi.advanceTimersByTimeAsync(0);
    expect(handler).not.toHaveBeenCalled();
  });

  it('lets the messages of a dead receiver keep those of others waiting for one timeout at most', async () => {
    const timeout = 15_000;
    const delivered = new Map<string, number>();
    const start = Date.now();
    const handler = async (bodies: string[]) => {
      if (bodies.some((body) => body.startsWith('dead'))) {
        await new Promise((resolve) => setTimeout(resolve, timeout));
      }
      for (const body of bodies) delivered.set(body, Date.now() - start);
    };
    const queue = consumedQueue(handler, { maxConcurrency: 5 }, {});
    for (let sent = 0; sent < 101; sent++) queue.send({ body: `dead ${sent}`, groupId: 'dead' });
    await vi.advanceTimersByTimeAsync(1_000);
    queue.send({ body: 'other', groupId: 'other' });
    await vi.advanceTimersByTimeAsync(4 * timeout);
    expect(delivered.size).toBe(102);
    // The call that is free first takes it, together with nine that are not answered.
    expect(delivered.get('other')).toBe(2 * timeout);
  });
});
