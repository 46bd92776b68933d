import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { type HttpServer, readBody, startHttpServer } from '../http-server.ts';
import { findPrincipal, type Principals } from '../iam/principals.ts';
import type { LambdaFunction } from '../lambda/lambda-function.ts';
import type { EventSourceDefinition, QueueDefinition } from '../template/deployment.ts';

/** A message in the dead-letter queue: given up by the queue, or sent there by the function. */
export interface DeadLetter {
  readonly messageId: string;
  readonly body: string;
  readonly reason: string;
}

/** What became of the messages of one call; those neither accepted nor failed wait for their next delivery. */
export interface Delivery {
  readonly accepted: number;
  readonly pending: number;
  readonly failures: readonly { readonly messageId: string; readonly reason: string }[];
}

/** A queue and the function that it feeds. */
export interface EventQueue {
  /** Sends each body as a message, and waits until all are settled, or have been tried and `patience` milliseconds passed. */
  send(bodies: readonly string[], patience: number): Promise<Delivery>;
}

interface Message {
  readonly messageId: string;
  readonly body: string;
  readonly tried: PromiseWithResolvers<void>;
  readonly settled: PromiseWithResolvers<void>;
  receiveCount: number;
  state: 'waiting' | 'applied' | { readonly failure: string };
}

/** SQS's limit of a message: 1 MiB. */
export const messageLimit = 1_048_576;

/** As many invocations at a time as one machine does well. */
const concurrentBatches = 2;

/** Milliseconds before the next delivery: on AWS the visibility timeout, minutes; here what is missing has to come sooner. */
const redeliveryDelay = (receiveCount: number) => Math.min(50 * 3 ** (receiveCount - 1), 15_000);

/**
 * Delivers messages as SQS does by an event source mapping: in batches, again where the function says that they failed, to
 * the dead-letter queue after as many deliveries as the redrive policy says.
 */
export function createEventQueue(
  source: EventSourceDefinition,
  queue: QueueDefinition,
  target: LambdaFunction,
  deadLetters: DeadLetter[],
): EventQueue {
  const visible: Message[] = [];
  let running = 0;

  return {
    async send(bodies, patience) {
      const messages = bodies.map(
        (body): Message => ({
          messageId: randomUUID(),
          body,
          tried: Promise.withResolvers(),
          settled: Promise.withResolvers(),
          receiveCount: 0,
          state: 'waiting',
        }),
      );
      visible.push(...messages);
      receiveNext();
      await Promise.all(messages.map(({ tried }) => tried.promise));
      await Promise.race([Promise.all(messages.map(({ settled }) => settled.promise)), wait(patience)]);
      return {
        accepted: messages.filter(({ state }) => state === 'applied').length,
        pending: messages.filter(({ state }) => state === 'waiting').length,
        failures: messages.flatMap(({ messageId, state }) =>
          typeof state === 'object' ? [{ messageId, reason: state.failure }] : [],
        ),
      };
    },
  };

  function receiveNext() {
    while (running < concurrentBatches && visible.length > 0) {
      running += 1;
      void receive(visible.splice(0, source.batchSize)).then(() => {
        running -= 1;
        receiveNext();
      });
    }
  }

  async function receive(batch: readonly Message[]) {
    for (const message of batch) message.receiveCount += 1;
    const { failed, reason } = await invoke(batch);
    for (const message of batch) {
      if (!failed.has(message)) {
        // The function itself may have sent it to the dead-letter queue.
        const letter = deadLetters.findLast(({ messageId }) => messageId === message.messageId);
        settle(message, letter === undefined ? 'applied' : { failure: letter.reason });
      } else if (message.receiveCount >= (queue.redrive?.maxReceiveCount ?? Number.POSITIVE_INFINITY)) {
        deadLetters.push({ messageId: message.messageId, body: message.body, reason });
        settle(message, { failure: reason });
      } else {
        setTimeout(() => {
          visible.push(message);
          receiveNext();
        }, redeliveryDelay(message.receiveCount)).unref();
      }
      message.tried.resolve();
    }
  }

  async function invoke(batch: readonly Message[]): Promise<{ failed: ReadonlySet<Message>; reason: string }> {
    const event: SQSEvent = { Records: batch.map((message) => record(message, queue.arn)) };
    let response: SQSBatchResponse | null;
    try {
      response = (await target.invoke(event)) as SQSBatchResponse | null;
    } catch (error) {
      return { failed: new Set(batch), reason: error instanceof Error ? error.message : String(error) };
    }
    const reason = `${target.definition.name} did not apply it.`;
    if (!source.reportsItemFailures) return { failed: new Set(), reason };
    const failedIds = new Set((response?.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));
    const failed = batch.filter(({ messageId }) => failedIds.has(messageId));
    // As on AWS: an answer that names a message that is not there fails the whole batch.
    return { failed: new Set(failed.length === failedIds.size ? failed : batch), reason };
  }
}

function settle(message: Message, state: Message['state']) {
  message.state = state;
  message.settled.resolve();
}

function record({ messageId, body, receiveCount }: Message, queueArn: string): SQSRecord {
  const now = String(Date.now());
  return {
    messageId,
    receiptHandle: randomUUID(),
    body,
    attributes: {
      ApproximateReceiveCount: String(receiveCount),
      SentTimestamp: now,
      SenderId: 'local',
      ApproximateFirstReceiveTimestamp: now,
    },
    messageAttributes: {},
    md5OfBody: md5(body),
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: queueArn.split(':')[3] ?? '',
  };
}

interface SendMessageRequest {
  readonly QueueUrl: string;
  readonly MessageBody: string;
  readonly MessageAttributes?: Readonly<Record<string, { readonly StringValue?: string }>>;
}

/**
 * The SQS endpoint that functions are given: SendMessage to the template's queues, by those whose role allows it. Functions
 * send dead letters only; the attributes `message_id` and `reason` say which message it was, and why.
 */
export function startQueueEndpoint(
  queues: () => readonly QueueDefinition[],
  principals: Principals,
  deadLetters: DeadLetter[],
): Promise<HttpServer> {
  return startHttpServer(0, async (request: IncomingMessage, response: ServerResponse) => {
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
    };
    const refuse = (type: string, message: string) => answer(400, { __type: `com.amazonaws.sqs#${type}`, message });
    // The body is within JSON: its escapes make it up to six times as long.
    const body = await readBody(request, 6 * messageLimit + 65_536);
    const operation = String(request.headers['x-amz-target']).split('.')[1];
    if (body === undefined) return refuse('InvalidMessageContents', 'The message is too large.');
    if (operation !== 'SendMessage')
      return refuse('UnsupportedOperation', `The local queues do not know ${operation}.`);
    const { QueueUrl, MessageBody, MessageAttributes = {} } = JSON.parse(body.toString()) as SendMessageRequest;
    const queue = queues().find(({ url }) => url === QueueUrl);
    if (queue === undefined) return refuse('QueueDoesNotExist', 'The specified queue does not exist.');
    const principal = findPrincipal(principals, request.headers);
    if (principal?.mayDo({ action: 'sqs:SendMessage', resource: queue.arn }) !== true) {
      return refuse('AccessDeniedException', `User: ${principal?.arn} is not authorized to perform: sqs:SendMessage`);
    }
    const attributeBytes = Object.entries(MessageAttributes).reduce(
      (sum, [name, { StringValue = '' }]) => sum + Buffer.byteLength(name + StringValue),
      0,
    );
    if (Buffer.byteLength(MessageBody) + attributeBytes > messageLimit) {
      return refuse('InvalidMessageContents', 'Body and attributes are larger than 1 MiB.');
    }
    const messageId = randomUUID();
    deadLetters.push({
      messageId: MessageAttributes.message_id?.StringValue ?? messageId,
      body: MessageBody,
      reason: MessageAttributes.reason?.StringValue ?? '',
    });
    answer(200, { MessageId: messageId, MD5OfMessageBody: md5(MessageBody) });
  });
}

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}
