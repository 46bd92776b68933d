import { join } from 'node:path';
import { SetupProblem } from '../../setup-problem.ts';
import type { HttpServer } from '../http-server.ts';
import type { Principals } from '../iam/principals.ts';
import { type JsonCall, startJsonService } from '../json-service.ts';
import { Refusal } from '../refusal.ts';
import type { QueueDefinition } from '../template/deployment.ts';
import { md5 } from './md5.ts';
import { messageFiles } from './message-files.ts';
import { maxMessageBytes, Queue } from './queue.ts';

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
 */
export async function startQueueService(principals: Principals): Promise<QueueService> {
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
        all.push(new Queue(definition, () => byName(definition.redrive?.deadLetterArn ?? ''), files));
      }
    },
    find(arnOrUrl) {
      const queue = byName(arnOrUrl);
      if (queue === undefined) throw new SetupProblem(`The template has no queue with the ARN or URL "${arnOrUrl}".`);
      return queue;
    },
  };

  function perform({ operation, body, requireAccess }: JsonCall) {
    if (operation !== 'SendMessage') {
      throw new Refusal('UnsupportedOperation', `The local queues do not know ${operation}.`);
    }
    const parameters = JSON.parse(body.toString()) as SendMessageRequest;
    const queue = byName(parameters.QueueUrl);
    if (queue === undefined) throw new Refusal('QueueDoesNotExist', 'The specified queue does not exist.');
    requireAccess({ action: 'sqs:SendMessage', resource: queue.definition.arn });
    return sendMessage(queue, parameters);
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
