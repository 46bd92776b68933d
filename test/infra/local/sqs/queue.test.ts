import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Queue } from '../../../../infra/local/sqs/queue.ts';
import type { QueueDefinition } from '../../../../infra/local/template/deployment.ts';

const minute = 60_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const definition = (name: string, rest: Partial<QueueDefinition> = {}): QueueDefinition => ({
  name,
  arn: `arn:${name}`,
  url: `http://sqs/${name}`,
  visibilityTimeoutSeconds: 60,
  ...rest,
});
const fifo = true;

/** A queue that gives messages up after two deliveries, and the queue where they go. */
function queuePair(rest: Partial<QueueDefinition> = {}): { queue: Queue; deadLetters: Queue } {
  const deadLetters = new Queue(definition('dead', rest), () => undefined);
  const redrive = { deadLetterArn: 'arn:dead', maxReceiveCount: 2 };
  return { queue: new Queue(definition('queue', { redrive, ...rest }), () => deadLetters), deadLetters };
}

const bodies = (messages: readonly { body: string }[]) => messages.map(({ body }) => body);
const send = (queue: Queue, body: string, groupId = 'g', deduplicationId = body) =>
  queue.send({ body, groupId, deduplicationId });

describe('a standard queue', () => {
  it('gives messages in the order of their arrival, each once', () => {
    const { queue } = queuePair();
    for (const body of ['a', 'b', 'c']) queue.send({ body });
    expect(bodies(queue.receive(2))).toEqual(['a', 'b']);
    expect(bodies(queue.receive(2))).toEqual(['c']);
    expect(queue.receive(2)).toEqual([]);
  });

  it('gives messages of a group after those of groups that have fewer under way', () => {
    const { queue } = queuePair();
    for (const body of ['a1', 'a2', 'a3', 'a4']) queue.send({ body, groupId: 'a' });
    const [a1, a2] = queue.receive(2);
    queue.send({ body: 'b', groupId: 'b' });
    queue.send({ body: 'c' });
    expect(bodies(queue.receive(3))).toEqual(['b', 'c', 'a3']);
    for (const message of [a1!, a2!]) queue.delete(message);
    // One of each is under way; delayed messages are not.
    queue.send({ body: 'b later', groupId: 'b', delay: 1_000 });
    queue.send({ body: 'b2', groupId: 'b' });
    expect(bodies(queue.receive(9))).toEqual(['a4', 'b2']);
  });

  it('shows a released message after the delay, and a deleted one never', () => {
    const { queue } = queuePair();
    const [a, b] = [queue.send({ body: 'a' }), queue.send({ body: 'b' })];
    const visible = vi.fn();
    queue.receive(2);
    queue.onVisible(visible);
    queue.release(a, 1_000);
    queue.delete(b);
    visible.mockClear();
    vi.advanceTimersByTime(999);
    expect([queue.receive(2), visible.mock.calls]).toEqual([[], []]);
    vi.advanceTimersByTime(1);
    expect(visible).toHaveBeenCalledOnce();
    expect(queue.receive(2)).toEqual([a]);
    expect(queue.messages()).toEqual([a]);
  });

  it('hides a delayed message at first, but keeps it among its messages', () => {
    const { queue } = queuePair();
    const visible = vi.fn();
    queue.onVisible(visible);
    const message = queue.send({ body: 'a', delay: 1_000 });
    expect(queue.messages()).toEqual([message]);
    vi.advanceTimersByTime(999);
    expect([queue.receive(1), visible.mock.calls]).toEqual([[], []]);
    vi.advanceTimersByTime(1);
    expect(visible).toHaveBeenCalledOnce();
    expect(queue.receive(1)).toEqual([message]);
  });

  it('moves a message to the dead-letter queue after the last delivery that it may have', async () => {
    const { queue, deadLetters } = queuePair();
    const message = queue.send({ body: 'a', attributes: { from: 'me' } });
    for (const count of [1, 2]) {
      expect(queue.receive(1)).toMatchObject([{ receiveCount: count }]);
      queue.release(message, 0);
      vi.advanceTimersByTime(0);
    }
    expect(deadLetters.messages()).toEqual([]);
    expect(queue.receive(1)).toEqual([]);
    expect(queue.messages()).toEqual([]);
    expect(deadLetters.messages()).toMatchObject([
      { messageId: message.messageId, body: 'a', attributes: { from: 'me' } },
    ]);
    expect(await message.settled.promise).toBe('redriven');
  });

  it('delivers a message without limit when it has no redrive policy', () => {
    const queue = new Queue(definition('queue'), () => undefined);
    const message = queue.send({ body: 'a' });
    for (let count = 1; count <= 50; count += 1) {
      expect(queue.receive(1)).toHaveLength(1);
      queue.release(message, 0);
      vi.advanceTimersByTime(0);
    }
  });

  it.each([
    ['an empty body', { body: '' }, 'MissingParameter'],
    ['more than 1 MiB', { body: 'x'.repeat(1_048_577) }, 'InvalidMessageContents'],
    [
      'more than 1 MiB with its attributes, in bytes',
      { body: 'é'.repeat(524_280), attributes: { reason: 'x'.repeat(20) } },
      'InvalidMessageContents',
    ],
  ])('refuses %s', (_, message, code) => {
    expect(() => queuePair().queue.send(message)).toThrow(expect.objectContaining({ code }));
    expect(queuePair().queue.send({ body: 'x'.repeat(1_048_576) }).body).toHaveLength(1_048_576);
  });
});

describe('a FIFO queue', () => {
  it('refuses the delay of a single message', () => {
    const { queue } = queuePair({ fifo });
    expect(() => queue.send({ body: 'a', groupId: 'g', deduplicationId: 'd', delay: 1 })).toThrow('DelaySeconds');
  });

  it('gives no message of a group while others of it are in flight', () => {
    const { queue } = queuePair({ fifo });
    const [a, b] = ['a', 'b', 'c', 'd'].map((body) => send(queue, body));
    send(queue, 'x', 'other');
    expect(bodies(queue.receive(2))).toEqual(['a', 'b']);
    expect(bodies(queue.receive(10))).toEqual(['x']);
    queue.delete(a!);
    expect(queue.receive(10)).toEqual([]);
    queue.delete(b!);
    expect(bodies(queue.receive(10))).toEqual(['c', 'd']);
  });

  it('keeps a group blocked until its failed messages are visible, and then goes on in its order', () => {
    const { queue } = queuePair({ fifo });
    const [a, b, c] = ['a', 'b', 'c'].map((body) => send(queue, body));
    queue.receive(2);
    queue.release(a!, 1_000);
    queue.release(b!, 1_500);
    send(queue, 'd');
    vi.advanceTimersByTime(1_499);
    expect(queue.receive(10)).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(bodies(queue.receive(10))).toEqual(['a', 'b', 'c', 'd']);
    expect([a!, b!, c!].map(({ receiveCount }) => receiveCount)).toEqual([2, 2, 1]);
  });

  it('continues with the group when one of its messages was moved to the dead letters', () => {
    const { queue, deadLetters } = queuePair({ fifo });
    const first = send(queue, 'a');
    for (let count = 0; count < 2; count += 1) {
      queue.receive(1);
      queue.release(first, 0);
      vi.advanceTimersByTime(0);
    }
    send(queue, 'b');
    expect(bodies(queue.receive(10))).toEqual(['b']);
    expect(deadLetters.messages()).toMatchObject([{ body: 'a', groupId: 'g' }]);
  });

  it('serves the groups in turn', () => {
    const { queue } = queuePair({ fifo });
    for (const body of ['a', 'b', 'c']) send(queue, body);
    for (const body of ['x', 'y']) send(queue, body, 'other');
    const first = queue.receive(1);
    queue.delete(first[0]!);
    expect(bodies([...first, ...queue.receive(1)])).toEqual(['a', 'x']);
  });

  it('numbers its messages', () => {
    const { queue } = queuePair({ fifo });
    const [first, second] = [send(queue, 'a').sequenceNumber!, send(queue, 'b').sequenceNumber!];
    expect(first).toMatch(/^\d{20}$/);
    expect(first < second).toBe(true);
  });

  it('takes one message with a deduplication id in five minutes, even after it was delivered', () => {
    const { queue } = queuePair({ fifo });
    const first = send(queue, 'a', 'g', 'id');
    expect(send(queue, 'again', 'g', 'id')).toBe(first);
    queue.delete(queue.receive(1)[0]!);
    vi.advanceTimersByTime(5 * minute - 1);
    expect(send(queue, 'again', 'g', 'id')).toBe(first);
    expect(queue.messages()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(send(queue, 'new', 'g', 'id')).not.toBe(first);
    expect(bodies(queue.messages())).toEqual(['new']);
  });

  it('deduplicates within a group', () => {
    const { queue } = queuePair({ fifo });
    send(queue, 'a', 'g', 'id');
    send(queue, 'b', 'other', 'id');
    send(queue, 'c', 'other', 'id');
    expect(bodies(queue.messages())).toEqual(['a', 'b']);
  });

  it.each([
    ['no group', { deduplicationId: 'x' }, 'MissingParameter'],
    ['no deduplication id', { groupId: 'x' }, 'InvalidParameterValue'],
    ['a group with a space', { groupId: 'a b', deduplicationId: 'x' }, 'InvalidParameterValue'],
    [
      'a deduplication id of 129 characters',
      { groupId: 'a', deduplicationId: 'x'.repeat(129) },
      'InvalidParameterValue',
    ],
  ])('refuses a message with %s', (_, ids, code) => {
    expect(() => queuePair({ fifo }).queue.send({ body: 'a', ...ids })).toThrow(expect.objectContaining({ code }));
  });
});
