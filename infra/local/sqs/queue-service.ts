import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { SetupProblem } from '../../commands/setup-problem.ts';
import type { Principals } from '../iam/principals.ts';
import type { HttpServer } from '../service/http-server.ts';
import { type JsonCall, startJsonService } from '../service/json-service.ts';
import { Refusal } from '../service/refusal.ts';
import type { QueueDefinition } from '../template/deployment.ts';
import { messageFiles } from './message-files.ts';
import { type Message, maxMessageBytes, Queue, type Timer } from './queue.ts';

/** The local SQS: the account's queues, and the endpoint through which functions send to them. */
export interface QueueService extends HttpServer {
  /** Messages are kept in a folder for each queue in `directory`; without one, in memory. */
  create(definitions: readonly QueueDefinition[], directory?: string): void;
  /** In the order of the template. */
  queues(): readonly Queue[];
  /** The queues that another queue's redrive policy names. */
  deadLetterQueues(): readonly Queue[];
  /** The queue with this ARN or URL; throws SetupProblem when there is none. */
  find(arnOrUrl: string): Queue;
}

/**
 * Six seconds here are a minute of a message's delay on AWS: a delay that outlasts every function
 * there does so here, too.
 */
export const delayFactor = 10;

/** The message is a JSON string in the request: escapes can make it six times as long. */
const maxRequestBytes = 6 * maxMessageBytes + 65_536;

interface SendMessageRequest {
  readonly QueueUrl: string;
  readonly MessageBody: string;
  readonly MessageAttributes?: Readonly<Record<string, { readonly StringValue?: string }>>;
  readonly MessageGroupId?: string;
  readonly MessageDeduplicationId?: string;
  readonly DelaySeconds?: number;
}

/**
 * Starts the endpoint. It has no queues at first, since their URLs contain the endpoint's address.
 * `after` measures delays.
 */
export async function startQueueService(principals: Principals, after?: Timer): Promise<QueueService> {
  const all: Queue[] = [];
  const byName = (arnOrUrl: string) =>
    all.find(({ definition }) => definition.arn === arnOrUrl || definition.url === arnOrUrl);
  const server = await startJsonService({ principals, maxRequestBytes, perform });
  return {
    ...server,
    queues: () => all,
    deadLetterQueues() {
      const arns = all.map(({ definition }) => definition.redrive?.deadLetterArn);
      return all.filter(({ definition }) => arns.includes(definition.arn));
    },
    create(definitions, directory) {
      for (const definition of definitions) {
        const files = directory === undefined ? undefined : messageFiles(join(directory, definition.name));
        all.push(new Queue(definition, () => byName(definition.redrive?.deadLetterArn ?? ''), files, after));
      }
    },
    find(arnOrUrl) {
      const queue = byName(arnOrUrl);
      if (queue === undefined) throw new SetupProblem(`The template has no queue with the ARN or URL "${arnOrUrl}".`);
      return queue;
    },
  };

  function perform({ operation, body, requireAccess }: JsonCall, { headers }: IncomingMessage) {
    const perform = operations[operation];
    if (perform === undefined) {
      throw new Refusal('UnsupportedOperation', `The local queues do not know ${operation}.`);
    }
    const parameters = JSON.parse(body.toString());
    const queue = byName(parameters.QueueUrl);
    if (queue === undefined) throw new Refusal('QueueDoesNotExist', 'The specified queue does not exist.');
    requireAccess({ action: `sqs:${operation}`, resource: queue.definition.arn });
    return perform(queue, parameters, headers['x-amzn-trace-id']);
  }
}

interface MessageRequest {
  readonly ReceiptHandle: string;
  readonly VisibilityTimeout: number;
}

/** What ends the deliveries of messages that were received over the API, by their ids. */
const releases = new Map<string, NodeJS.Timeout>();

function releaseAfter(queue: Queue, message: Message, seconds: number) {
  clearTimeout(releases.get(message.messageId));
  const release = () => {
    releases.delete(message.messageId);
    queue.release(message, 0);
  };
  releases.set(message.messageId, setTimeout(release, seconds * 1_000).unref());
}

function received(queue: Queue, { ReceiptHandle }: MessageRequest): Message | undefined {
  return releases.has(ReceiptHandle)
    ? queue.messages().find(({ messageId }) => messageId === ReceiptHandle)
    : undefined;
}

/** A message's own id is its handle: no other receiver has it while it is hidden. */
const operations: Readonly<
  // biome-ignore lint/suspicious/noExplicitAny: each operation has its own parameters.
  Record<string, (queue: Queue, parameters: any, traceHeader: IncomingHttpHeaders[string]) => object>
> = {
  SendMessage: sendMessage,
  ReceiveMessage(queue, { MaxNumberOfMessages = 1, VisibilityTimeout }: ReceiveMessageRequest) {
    const messages = queue.receive(MaxNumberOfMessages);
    const seconds = VisibilityTimeout ?? queue.definition.visibilityTimeoutSeconds;
    for (const message of messages) releaseAfter(queue, message, seconds);
    const Messages = messages.map(({ messageId, body }) => ({
      ...{ MessageId: messageId, ReceiptHandle: messageId, Body: body },
      MD5OfBody: hash('md5', body),
    }));
    return Messages.length === 0 ? {} : { Messages };
  },
  DeleteMessage(queue, request: MessageRequest) {
    const message = received(queue, request);
    if (message === undefined) return {};
    clearTimeout(releases.get(message.messageId));
    releases.delete(message.messageId);
    queue.delete(message);
    return {};
  },
  ChangeMessageVisibility(queue, request: MessageRequest) {
    const message = received(queue, request);
    if (message !== undefined) releaseAfter(queue, message, request.VisibilityTimeout);
    return {};
  },
  GetQueueAttributes: (queue) => ({
    Attributes: {
      ApproximateNumberOfMessagesDelayed: String(queue.delayed()),
      ApproximateNumberOfMessagesNotVisible: String(queue.hidden() - queue.delayed()),
    },
  }),
};

interface ReceiveMessageRequest {
  readonly MaxNumberOfMessages?: number;
  readonly VisibilityTimeout?: number;
}

function sendMessage(queue: Queue, parameters: SendMessageRequest, traceHeader: IncomingHttpHeaders[string]) {
  const { MessageBody, MessageAttributes = {}, MessageGroupId, MessageDeduplicationId, DelaySeconds = 0 } = parameters;
  const { messageId, sequenceNumber } = queue.send({
    body: MessageBody,
    attributes: Object.fromEntries(
      Object.entries(MessageAttributes).map(([name, { StringValue = '' }]) => [name, StringValue]),
    ),
    delay: (DelaySeconds * 1000) / delayFactor,
    traceHeader: traceHeader?.toString(),
    ...(MessageGroupId !== undefined && { groupId: MessageGroupId }),
    ...(MessageDeduplicationId !== undefined && { deduplicationId: MessageDeduplicationId }),
  });
  return {
    MessageId: messageId,
    MD5OfMessageBody: hash('md5', MessageBody),
    ...(sequenceNumber !== undefined && { SequenceNumber: sequenceNumber }),
  };
}
