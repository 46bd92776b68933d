import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createEventIntake } from '../../../../infra/local/sqs/event-intake.ts';
import { type Message, Queue } from '../../../../infra/local/sqs/queue.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const fifo = true;
const definition = (name: string) => ({ name, arn: name, url: name, visibilityTimeoutSeconds: 60 });
const message = (body: string) => ({ body, groupId: body, deduplicationId: body });

/** An intake whose queues are served by `consume`, one message at a time. */
function intake() {
  const deadLetters = new Queue({ ...definition('dead'), fifo }, () => undefined);
  const redrive = { deadLetterArn: 'dead', maxReceiveCount: 1 };
  const events = new Queue({ ...definition('events'), fifo, redrive }, () => deadLetters);
  const waiting = new Queue(definition('waiting'), () => undefined);
  const consume = (handle: (message: Message) => void) => {
    for (const each of events.receive(10)) handle(each);
  };
  const { deliver, deadLetters: shownDeadLetters } = createEventIntake({ events, waiting, deadLetters: [deadLetters] });
  return { deliver, shownDeadLetters, events, waiting, deadLetters, consume };
}

describe('createEventIntake', () => {
  it('reports what became of each message', async () => {
    const { deliver, events, waiting, deadLetters, consume } = intake();
    const delivery = deliver(['applied', 'refused', 'early', 'failed'].map(message), 1_000);
    let refused = '';
    consume((each) => {
      const attributes = { message_id: each.messageId };
      if (each.body === 'refused') {
        refused = each.messageId;
        deadLetters.send({ ...message('refused'), attributes: { ...attributes, reason: 'No.' } });
      }
      if (each.body === 'early') waiting.send({ body: 'early', attributes });
      if (each.body === 'failed') events.release(each, 60_000);
      else events.delete(each);
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await delivery).toEqual({
      accepted: 1,
      pending: 2,
      failures: [{ messageId: refused, reason: 'No.' }],
    });
  });

  it('answers at once when all messages have left the queue', async () => {
    const { deliver, events, consume } = intake();
    const delivery = deliver([message('a'), message('b')], 1_000_000);
    consume((each) => events.delete(each));
    expect(await delivery).toEqual({ accepted: 2, pending: 0, failures: [] });
  });

  it('counts a message that is sent again as the first one', async () => {
    const { deliver, events, consume } = intake();
    const delivery = deliver([message('a'), message('a')], 1_000);
    consume((each) => events.delete(each));
    expect(await delivery).toEqual({ accepted: 2, pending: 0, failures: [] });
    expect(await deliver([message('a')], 1_000)).toEqual({ accepted: 1, pending: 0, failures: [] });
  });

  it('shows a message that its queue gave up, with the reason of its last failure', async () => {
    const { deliver, shownDeadLetters, events, consume } = intake();
    const delivery = deliver([message('a')], 1_000);
    consume((each) => {
      each.failure = 'It broke.';
      events.release(each, 0);
    });
    await vi.advanceTimersByTimeAsync(10);
    events.receive(10);
    expect(await delivery).toMatchObject({ accepted: 0, pending: 0, failures: [{ reason: 'It broke.' }] });
    expect(shownDeadLetters()).toMatchObject([{ body: 'a', reason: 'It broke.' }]);
  });
});
