import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { messageQueue } from '../data/aws/message-queue.ts';
import { database } from '../data/dynamodb/db.ts';
import { otherFunctions } from '../other-functions.ts';
import { queues } from '../queues.ts';
import { queueUrl } from '../runtime/env.ts';
import { consumeEvents, eventConsumer } from './event-consumer.ts';

const consumer = eventConsumer(
  database(otherFunctions.applyEvents),
  queues.Events,
  messageQueue(queueUrl('WaitingEvents')),
);

/**
 * Applies the lifecycle events that senders send. An event that has to wait makes room for its
 * owner's other events.
 */
export function handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  return consumeEvents(consumer, event, context);
}
