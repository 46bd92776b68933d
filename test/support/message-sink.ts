import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';
import { queues } from '../../functions/queues.ts';

/** A message that was sent to the sink. */
export interface SunkMessage {
  /** The name in `queues`; `Events-dead-letters` for dead letters. */
  readonly queue: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly groupId?: string;
  readonly deduplicationId?: string;
  readonly delaySeconds?: number;
}

/**
 * An SQS endpoint that keeps what is sent to any queue; `refusing` makes it refuse. It sets the
 * environment: import endpoints after this.
 */
export async function startMessageSink() {
  const messages: SunkMessage[] = [];
  const sink = { messages, refusing: false };
  const server = createServer(async (request, response) => {
    const input = JSON.parse(await text(request));
    const {
      QueueUrl,
      MessageBody,
      MessageAttributes = {},
      MessageGroupId,
      MessageDeduplicationId,
      DelaySeconds,
    } = input;
    if (sink.refusing) {
      response.writeHead(400, { 'Content-Type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify({ __type: 'com.amazonaws.sqs#QueueDoesNotExist', message: 'gone' }));
      return;
    }
    messages.push({
      queue: QueueUrl.split('/').at(-1),
      body: MessageBody,
      attributes: Object.fromEntries(
        Object.entries<{ StringValue: string }>(MessageAttributes).map(([name, value]) => [name, value.StringValue]),
      ),
      ...(DelaySeconds !== undefined && { delaySeconds: DelaySeconds }),
      ...(MessageGroupId !== undefined && { groupId: MessageGroupId, deduplicationId: MessageDeduplicationId }),
    });
    const MD5OfMessageBody = createHash('md5').update(MessageBody).digest('hex');
    response.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ MessageId: String(messages.length), MD5OfMessageBody }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  vi.stubEnv('AWS_ENDPOINT_URL_SQS', url);
  for (const [name, { environmentVariable, deadLetterVariable }] of Object.entries(queues)) {
    vi.stubEnv(environmentVariable, `${url}/000000000000/${name}`);
    vi.stubEnv(deadLetterVariable, `${url}/000000000000/${name}-dead-letters`);
  }
  return Object.assign(sink, {
    url,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections()),
  });
}
