import type { IncomingMessage, ServerResponse } from 'node:http';
import { type EventMessage, eventMessage } from '../commands/event-message.ts';
import { readBody } from './service/http-server.ts';
import type { EventIntake } from './sqs/event-intake.ts';
import { maxMessageBytes, type Queue } from './sqs/queue.ts';

/** What the local stack's own paths begin with. */
export const localPrefix = '/_local/';

const maxEventsBytes = 64 * 1024 * 1024;

/** Milliseconds that an answer waits for further deliveries of events that failed at first. */
const redeliveryPatience = 1_000;

/** Answers one of the local stack's own paths. */
type LocalPaths = (path: string, request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * The local stack's own paths, for what AWS has other ways to do:
 * - `POST /_local/events`: takes one lifecycle event or an array of them. Answers when each was
 *   delivered once: how many were accepted, how many wait for another delivery, and why the others
 *   failed for good.
 * - `GET /_local/dead-letters`: events that were given up since the start.
 * - `GET /_local/queues`: every queue of the template with the messages that are in it.
 * - `POST /_local/rotate-secrets`: gives each secret its next version, as its schedule would.
 */
export function createLocalPaths(
  intake: EventIntake,
  queues: readonly Queue[],
  rotateSecrets: () => Promise<void>,
): LocalPaths {
  return async (path, request, response) => {
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    };
    const body = await readBody(request, maxEventsBytes);
    switch (`${request.method} ${path}`) {
      case `GET ${localPrefix}dead-letters`:
        return answer(200, intake.deadLetters());
      case `GET ${localPrefix}queues`:
        return answer(200, queues.map(describeQueue));
      case `POST ${localPrefix}events`:
        return deliverEvents(body, answer);
      case `POST ${localPrefix}rotate-secrets`:
        await rotateSecrets();
        return answer(200, { message: 'Each secret has a new version.' });
      default:
        return answer(404, {
          message: `The local stack knows POST events, GET dead-letters, GET queues and POST rotate-secrets below ${localPrefix}.`,
        });
    }
  };

  async function deliverEvents(body: Buffer | undefined, answer: (status: number, body: unknown) => void) {
    if (body === undefined) return answer(413, { message: 'At most 64 MiB of events in one call.' });
    let messages: EventMessage[];
    try {
      const value: unknown = JSON.parse(body.toString());
      messages = (Array.isArray(value) ? value : [value]).map(eventMessage);
    } catch (error) {
      const isTooDeep = error instanceof RangeError;
      return answer(400, { message: isTooDeep ? 'The body is nested too deeply.' : 'The body is not JSON.' });
    }
    if (messages.some((message) => Buffer.byteLength(message.body) > maxMessageBytes)) {
      return answer(413, { message: 'An event is larger than a message of SQS may be: 1 MiB.' });
    }
    return answer(200, await intake.deliver(messages, redeliveryPatience));
  }
}

function describeQueue(queue: Queue) {
  return {
    name: queue.definition.name,
    url: queue.definition.url,
    messages: queue.messages().map(({ messageId, body, attributes, groupId, receiveCount }) => ({
      messageId,
      body,
      attributes,
      ...(groupId !== undefined && { groupId }),
      receiveCount,
    })),
  };
}
