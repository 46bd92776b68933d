import { queues } from '../queues.ts';
import { eventConsumer } from './event-consumer.ts';

/**
 * Tries again the lifecycle events that were put aside, in no order, until what they need is there.
 */
export const handler = eventConsumer({ queue: queues.WaitingEvents });
