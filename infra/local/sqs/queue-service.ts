import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { SetupProblem } from '../../setup-problem.ts';
import { type HttpServer, readBody, startHttpServer } from '../http-server.ts';
import { findPrincipal, type Principals } from '../iam/principals.ts';
import type { QueueDefinition } from '../template/deployment.ts';
import { md5 } from './md5.ts';
import { messageFiles } from './message-files.ts';
import { createQueue, InvalidMessage, messageLimit, type Queue } from './queue.ts';

/** The local SQS: the account's queues, and the endpoint through which functions send to them. */
export interface QueueService extends HttpServer {
  /** Messages are kept in a folder for each queue in `directory`; without one, in memory. */
  create(definitions: readonly QueueDefinition[], directory?: string): void;
  /** In the order of the template. */
  queues(): readonly Queue[];
  /** Those that another queue's redrive policy names. */
  deadLetterQueues(): readonly Queue[];
  /** The queue with this ARN or URL; throws SetupProblem when there is none. */
  find(arnOrUrl: string): Queue;
}

/**
 * Here six seconds stand for a minute of a message's delay, so that a delay that outlasts every
 * function on AWS does so here.
 */
export const delayFactor = 10;

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
 */
export async function startQueueService(principals: Principals): Promise<QueueService> {
  const all: Queue[] = [];
  const byName = (arnOrUrl: string) =>
    all.find(({ definition }) => definition.arn === arnOrUrl || definition.url === arnOrUrl);
  const server = await startHttpServer(0, answer);
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
        all.push(createQueue(definition, () => byName(definition.redrive?.deadLetterArn ?? ''), files));
      }
    },
    find(arnOrUrl) {
      const queue = byName(arnOrUrl);
      if (queue === undefined) throw new SetupProblem(`The template has no queue with the ARN or URL "${arnOrUrl}".`);
      return queue;
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const send = (status: number, body: unknown) => {
      response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
    };
    const refuse = (code: string, message: string) => send(400, { __type: `com.amazonaws.sqs#${code}`, message });
    // The message is a JSON string in the request: escapes can make it six times as long.
    const body = await readBody(request, 6 * messageLimit + 65_536);
    const operation = String(request.headers['x-amz-target']).split('.')[1];
    if (body === undefined) return refuse('InvalidMessageContents', 'The message is too large.');
    if (operation !== 'SendMessage') {
      return refuse('UnsupportedOperation', `The local queues do not know ${operation}.`);
    }
    const parameters = JSON.parse(body.toString()) as SendMessageRequest;
    const queue = byName(parameters.QueueUrl);
    if (queue === undefined) return refuse('QueueDoesNotExist', 'The specified queue does not exist.');
    const principal = findPrincipal(principals, request.headers);
    if (principal?.mayDo({ action: 'sqs:SendMessage', resource: queue.definition.arn }) !== true) {
      return refuse('AccessDeniedException', `User: ${principal?.arn} is not authorized to perform: sqs:SendMessage`);
    }
    try {
      send(200, sendMessage(queue, parameters));
    } catch (error) {
      if (!(error instanceof InvalidMessage)) throw error;
      refuse(error.code, error.message);
    }
  }
}

function sendMessage(queue: Queue, parameters: SendMessageRequest) {
  const { MessageBody, MessageAttributes = {}, MessageGroupId, MessageDeduplicationId, DelaySeconds = 0 } = parameters;
  const { messageId, sequenceNumber } = queue.send({
    body: MessageBody,
    attributes: Object.fromEntries(
      Object.entries(MessageAttributes).map(([name, { StringValue = '' }]) => [name, StringValue]),
    ),
    delay: (DelaySeconds * 1000) / delayFactor,
    ...(MessageGroupId !== undefined && { groupId: MessageGroupId }),
    ...(MessageDeduplicationId !== undefined && { deduplicationId: MessageDeduplicationId }),
  });
  return {
    MessageId: messageId,
    MD5OfMessageBody: md5(MessageBody),
    ...(sequenceNumber !== undefined && { SequenceNumber: sequenceNumber }),
  };
}
