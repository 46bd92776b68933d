import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A message as it came. */
interface ReceivedMessage {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface WebhookReceiver {
  readonly url: string;
  /** The messages that came since the list was emptied. */
  readonly messages: ReceivedMessage[];
  /** How it answers; by default 204. */
  answer: (message: ReceivedMessage, response: ServerResponse) => void;
  stop(): Promise<void>;
}

/** A receiver of webhooks on 127.0.0.1. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const server = createServer(async (request, response) => {
    const message = { url: request.url ?? '', headers: request.headers, body: await buffer(request) };
    receiver.messages.push(message);
    receiver.answer(message, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages: [],
    answer: (_, response) => response.writeHead(204).end(),
    stop: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
  return receiver;
}
