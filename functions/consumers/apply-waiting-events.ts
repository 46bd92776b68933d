import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { database } from '../data/dynamodb/db.ts';
import { otherFunctions } from '../other-functions.ts';
import { queues } from '../queues.ts';
import { consumeEvents, eventConsumer } from './event-consumer.ts';

const consumer = eventConsumer(database(otherFunctions.applyWaitingEvents), queues.WaitingEvents);

/**
 * Tries again the lifecycle events that were put aside, in no order, until what they need is there.
 */
export function handler(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  return consumeEvents(consumer, event, context);
}
