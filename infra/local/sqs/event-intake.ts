import { setTimeout as wait } from 'node:timers/promises';
import type { EventMessage } from '../../commands/event-message.ts';
import type { Message, Queue } from './queue.ts';

/**
 * What became of the events of one call; those neither accepted nor failed wait for their next
 * delivery.
 */
interface Delivery {
  readonly accepted: number;
  readonly pending: number;
  readonly failures: readonly { readonly messageId: string; readonly reason: string }[];
}

/** A message that was given up: by its queue, or by the function that could not apply it. */
interface DeadLetter {
  /** The message's id in the queue that it was sent to. */
  readonly messageId: string;
  readonly body: string;
  readonly reason: string;
}

/** Hands events to a queue and reports what its consumer makes of them. */
export interface EventIntake {
  /**
   * Sends the messages. Returns when all have left the queue, or all were tried and `patience`
   * milliseconds passed.
   */
  deliver(messages: readonly EventMessage[], patience: number): Promise<Delivery>;
  /** Since the start. */
  deadLetters(): readonly DeadLetter[];
}

/** The queues through which an event goes. */
interface EventQueues {
  readonly events: Queue;
  /** Takes the events that the function puts aside. */
  readonly waiting: Queue;
  readonly deadLetters: readonly Queue[];
}

export function createEventIntake(queues: EventQueues): EventIntake {
  return { deliver, deadLetters };

  async function deliver(given: readonly EventMessage[], patience: number): Promise<Delivery> {
    const messages = given.map((message) => queues.events.send(message));
    await Promise.all(messages.map(({ tried }) => tried.promise));
    const settled = new Set<Message>();
    const all = messages.map((message) => message.settled.promise.then(() => settled.add(message)));
    await Promise.race([Promise.all(all), wait(patience, undefined, { ref: false })]);
    const letters = new Map(deadLetters().map((letter) => [letter.messageId, letter]));
    const failures = messages.flatMap(({ messageId }) => {
      const letter = letters.get(messageId);
      return letter === undefined ? [] : [{ messageId, reason: letter.reason }];
    });
    const failedIds = new Set(failures.map(({ messageId }) => messageId));
    // A message that the function sends on says in its attributes which one it was.
    const waitingIds = new Set(queues.waiting.messages().map(({ attributes }) => attributes.message_id));
    const isWaiting = (message: Message) => !settled.has(message) || waitingIds.has(message.messageId);
    return {
      accepted: messages.filter((message) => !isWaiting(message) && !failedIds.has(message.messageId)).length,
      pending: messages.filter(isWaiting).length,
      failures,
    };
  }

  /** A message that the function itself sent says in its attributes which one it was, and why. */
  function deadLetters(): DeadLetter[] {
    const messages = queues.deadLetters.flatMap((queue) => queue.messages());
    return messages.map(({ messageId, body, attributes, failure }) => ({
      messageId: attributes.message_id ?? messageId,
      body,
      reason: attributes.reason ?? failure ?? '',
    }));
  }
}
