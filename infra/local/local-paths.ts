import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from './http-server.ts';
import { type DeadLetter, type Delivery, messageLimit } from './sqs/queues.ts';

const eventsLimit = 64 * 1024 * 1024;
const prefix = '/_local/';

/** Milliseconds that an answer waits for further deliveries of events that failed at first. */
const redeliveryPatience = 1_000;

/** Paths of the local stack's own, which AWS has in other forms: the way to the queue, a look into the dead-letter queue. */
export const localPaths = { prefix, handle };

/**
 * `POST /_local/events`: one lifecycle event or an array of them, answered when each was delivered: how many were accepted,
 * how many wait for another delivery (what they speak of may yet come), and why others failed for good.
 * `GET /_local/dead-letters`: those since the start.
 */
async function handle(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  deliver: (events: readonly unknown[], patience: number) => Promise<Delivery>,
  deadLetters: readonly DeadLetter[],
): Promise<void> {
  const answer = (status: number, body: unknown) => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  };
  const body = await readBody(request, eventsLimit);
  if (request.method === 'GET' && path === `${prefix}dead-letters`) return answer(200, deadLetters);
  if (request.method !== 'POST' || path !== `${prefix}events`) {
    return answer(404, { message: `The local stack knows POST ${prefix}events and GET ${prefix}dead-letters.` });
  }
  if (body === undefined) return answer(413, { message: 'At most 64 MiB of events in one call.' });
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    return answer(400, { message: 'The body is no JSON.' });
  }
  const events = Array.isArray(value) ? value : [value];
  if (events.some((event) => Buffer.byteLength(JSON.stringify(event)) > messageLimit)) {
    return answer(413, { message: 'An event is larger than a message of SQS may be: 1 MiB.' });
  }
  return answer(200, await deliver(events, redeliveryPatience));
}
