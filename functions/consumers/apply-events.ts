import { messageSender } from '../data/aws/message-sender.ts';
import { queues } from '../queues.ts';
import { queueUrl } from '../runtime/env.ts';
import { eventConsumer } from './event-consumer.ts';

/**
 * Applies the lifecycle events that senders send. Those that have to wait make room for their
 * owner's other events.
 */
export const handler = eventConsumer({ queue: queues.Events, waiting: messageSender(queueUrl('WaitingEvents')) });
