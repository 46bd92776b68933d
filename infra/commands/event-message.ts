import { createHash, randomUUID } from 'node:crypto';

/** A lifecycle event as a message for the queue, with the ids that a FIFO queue asks for. */
export interface EventMessage {
  readonly body: string;
  readonly groupId: string;
  readonly deduplicationId: string;
}

/**
 * The message that docs/reference/events.md asks senders to make of an event: the owner is its
 * group, the event's id its deduplication id. An event without them is sent nevertheless, so that
 * its consumer says what is wrong with it. Throws RangeError for an event that is nested too
 * deeply to be written as JSON.
 */
export function eventMessage(event: unknown): EventMessage {
  const { id, user_id } = (typeof event === 'object' && event !== null ? event : {}) as Record<string, unknown>;
  return {
    body: JSON.stringify(event),
    groupId: typeof user_id === 'string' && user_id !== '' ? queueId(user_id) : 'nobody',
    deduplicationId: typeof id === 'string' && id !== '' ? queueId(id) : randomUUID(),
  };
}

/**
 * The text itself where SQS takes it for an id: up to 128 ASCII characters without spaces.
 * Otherwise its hash.
 */
function queueId(text: string): string {
  return /^[!-~]{1,128}$/.test(text) ? text : createHash('sha256').update(text).digest('hex');
}
