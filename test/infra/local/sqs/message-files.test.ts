import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { messageFiles } from '../../../../infra/local/sqs/message-files.ts';
import { Queue } from '../../../../infra/local/sqs/queue.ts';
import type { QueueDefinition } from '../../../../infra/local/template/deployment.ts';

let directory: string;
beforeEach(() => {
  vi.useFakeTimers();
  directory = mkdtempSync(join(tmpdir(), 'messages-'));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true });
});

const fifo = true;
const redrive = { deadLetterArn: 'arn:dead', maxReceiveCount: 1 };

/** The queue as a new process finds it. */
function openQueue(rest: Partial<QueueDefinition> = {}) {
  const definition = (name: string) => ({ name, arn: `arn:${name}`, url: name, visibilityTimeoutSeconds: 60, ...rest });
  const dead = new Queue(definition('dead'), () => undefined, messageFiles(join(directory, 'dead')));
  const queue = new Queue({ ...definition('queue'), redrive }, () => dead, messageFiles(join(directory, 'queue')));
  return { queue, dead };
}

const bodies = (messages: readonly { body: string }[]) => messages.map(({ body }) => body);

describe('a queue with files', () => {
  it('has what was sent and not deleted when a new process opens it, also what was received', () => {
    const { queue } = openQueue();
    for (const body of ['a', 'b', 'c']) {
      queue.send({ body, attributes: { of: body } });
      vi.advanceTimersByTime(1);
    }
    const [a] = queue.receive(2);
    queue.delete(a!);
    const received = openQueue().queue.receive(10);
    expect(received.map(({ body, attributes }) => [body, attributes])).toEqual([
      ['b', { of: 'b' }],
      ['c', { of: 'c' }],
    ]);
  });

  it('hides a delayed message for the rest of its delay', () => {
    openQueue().queue.send({ body: 'a', delay: 1_000 });
    vi.advanceTimersByTime(600);
    const { queue } = openQueue();
    expect(queue.receive(1)).toEqual([]);
    vi.advanceTimersByTime(400);
    expect(bodies(queue.receive(1))).toEqual(['a']);
  });

  it('keeps the order of groups, and goes on with its numbers', () => {
    const first = openQueue({ fifo }).queue;
    for (let id = 0; id < 12; id += 1) first.send({ body: String(id), groupId: 'g', deduplicationId: String(id) });
    const { queue } = openQueue({ fifo });
    const next = queue.send({ body: '12', groupId: 'g', deduplicationId: '12' });
    expect(next.sequenceNumber).toBe('13'.padStart(20, '0'));
    expect(bodies(queue.receive(20))).toEqual(Array.from({ length: 13 }, (_, id) => String(id)));
  });

  it('gives the messages of a FIFO queue although the clock was set back', () => {
    const first = openQueue({ fifo }).queue;
    for (const body of ['a', 'b']) first.send({ body, groupId: 'g', deduplicationId: body });
    vi.setSystemTime(Date.now() - 86_400_000);
    expect(bodies(openQueue({ fifo }).queue.receive(10))).toEqual(['a', 'b']);
  });

  it('keeps dead letters in their own queue', () => {
    const { queue } = openQueue();
    queue.send({ body: 'a' });
    queue.release(queue.receive(1)[0]!, 0);
    vi.advanceTimersByTime(1);
    expect(queue.receive(1)).toEqual([]);
    const reopened = openQueue();
    expect(reopened.queue.messages()).toEqual([]);
    expect(bodies(reopened.dead.messages())).toEqual(['a']);
  });

  it('passes over a message whose writing was interrupted: it had not been accepted', () => {
    openQueue().queue.send({ body: 'a' });
    writeFileSync(join(directory, 'queue', 'half.json.new'), '{"messageId":"ha');
    expect(bodies(openQueue().queue.messages())).toEqual(['a']);
  });
});
