/** The service's queues on a test's own time, each with its consumer, as SQS and Lambda do it. */

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { otherFunctions } from '../../functions/other-functions.ts';
import { type QueueDescription, type QueueName, queues } from '../../functions/queues.ts';
import type { FunctionDescription } from '../../functions/rights.ts';
import { timeLimits } from '../../functions/time-limits.ts';
import { lambdaContext } from './gateway-event.ts';
import type { SunkMessage } from './message-sink.ts';
import { sqsEvent } from './sqs-event.ts';

interface Time {
  now(): number;
  elapsed(): number;
}

interface Waiting {
  readonly message: SunkMessage;
  readonly messageId: string;
  readonly sentAt: number;
  /** Hidden until then. */
  until: number;
  receives: number;
}

type Consumer = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

/** A context whose function has as much time, by this clock, as its description says. */
export function contextAt(time: Time, { timeoutSeconds = timeLimits.function }: FunctionDescription): Context {
  const end = time.elapsed() + 1_000 * timeoutSeconds;
  return { ...lambdaContext(), getRemainingTimeInMillis: () => end - time.elapsed() };
}

/**
 * Takes what is sent to the sink, and delivers it when it is due, again and again until its
 * consumer is done with it or the queue gives it up. Consumers are loaded here: set the environment
 * before.
 */
export async function consumedQueues(sink: { readonly messages: SunkMessage[] }, time: Time) {
  const waiting: Waiting[] = [];
  const done: Waiting[] = [];
  const deadLetters: SunkMessage[] = [];
  const consumers = new Map<string, Consumer>();
  for (const { consumer } of Object.values(queues)) {
    const { entry } = otherFunctions[consumer.function];
    const file = join(import.meta.dirname, '../../functions', `${entry}.ts`);
    consumers.set(consumer.function, (await import(/* @vite-ignore */ file)).handler);
  }

  function take() {
    for (const message of sink.messages.splice(0)) {
      if (message.queue.endsWith('-dead-letters')) deadLetters.push(message);
      else waiting.push(asSent(message));
    }
  }

  function asSent(message: SunkMessage): Waiting {
    const now = time.now();
    return {
      message,
      messageId: randomUUID(),
      sentAt: now,
      until: now + 1_000 * (message.delaySeconds ?? 0),
      receives: 0,
    };
  }

  /** In a FIFO queue, a hidden message keeps the later ones of its group. */
  function due(name: QueueName): Waiting[] {
    const blocked = new Set<string | undefined>();
    return waiting.filter(({ message, until }) => {
      if (message.queue !== name || (queues[name].fifo && blocked.has(message.groupId))) return false;
      if (until > time.now()) blocked.add(message.groupId);
      return until <= time.now();
    });
  }

  async function deliver(name: QueueName, batch: readonly Waiting[], copies: number) {
    const { consumer, visibilitySeconds, maxDeliveries }: QueueDescription = queues[name];
    for (const each of batch) each.receives += 1;
    const call = () => {
      const context = contextAt(time, otherFunctions[consumer.function as keyof typeof otherFunctions]);
      return consumers.get(consumer.function)!(eventOf(batch), context);
    };
    const answers = await Promise.all(Array.from({ length: copies }, call));
    // A copy that was handled is deleted, and the message with it.
    const failed = answers
      .map(({ batchItemFailures }) => new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)))
      .reduce((one, other) => one.intersection(other));
    for (const each of batch) {
      each.until = time.now() + 1_000 * visibilitySeconds;
      const isGivenUp = each.receives >= maxDeliveries;
      if (failed.has(each.messageId) && !isGivenUp) continue;
      done.push(...waiting.splice(waiting.indexOf(each), 1));
      if (failed.has(each.messageId)) deadLetters.push(each.message);
    }
    take();
  }

  return {
    /** What the queues gave up, or consumers. */
    deadLetters,
    /** How many messages wait. */
    size: () => waiting.length + sink.messages.length,
    /** Sends a message, as others do. */
    send: (message: SunkMessage) => void sink.messages.push(message),
    /** Lets all that was delivered come once more, in this order. */
    repeat(order: (messages: readonly Waiting[]) => readonly Waiting[]) {
      waiting.push(...order(done.splice(0)).map((each) => ({ ...each, until: time.now() })));
    },
    /** Delivers what is due, in this number of copies at once. */
    async deliver(copies = 1) {
      take();
      for (const name of Object.keys(queues) as QueueName[]) {
        const all = due(name);
        while (all.length > 0) await deliver(name, all.splice(0, queues[name].consumer.batchSize), copies);
      }
    },
  };
}

function eventOf(batch: readonly Waiting[]): SQSEvent {
  const records = batch.flatMap(({ message, messageId, sentAt, receives }) => {
    const { Records } = sqsEvent([message.body], { receiveCount: receives, sentAt, messageId: () => messageId });
    return Records.map((record) => ({
      ...record,
      attributes: { ...record.attributes, MessageGroupId: message.groupId ?? '' },
      messageAttributes: Object.fromEntries(
        Object.entries(message.attributes).map(([name, stringValue]) => [
          name,
          { stringValue, dataType: 'String' as const },
        ]),
      ),
    }));
  });
  return { Records: records };
}
