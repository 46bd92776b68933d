/**
 * The SQS queues: data only. The stack builds each of them with a queue for its dead letters. It
 * does so before it builds functions, so that every function may send to them. Functions read a
 * queue's URL from the environment variable given here.
 */

/**
 * One queue. The variables hold the URLs of the queue and of its dead-letter queue at run time.
 * Both are FIFO or both are not.
 *
 * Senders to a FIFO queue give each message a group (`MessageGroupId`) and a
 * `MessageDeduplicationId`. The queue delivers the messages of a group in the order in which they
 * were sent. While one of them is under way or failed, it delivers no later one: a message that
 * cannot be handled yet must leave the queue. It drops a message whose group and id it has seen in
 * the last five minutes.
 */
export interface QueueDescription {
  readonly fifo: boolean;
  readonly environmentVariable: string;
  readonly deadLetterVariable: string;
  /** SQS drops a message that has waited this long. */
  readonly retentionDays: number;
  /** Deliveries of a message before SQS moves it to the dead-letter queue. */
  readonly maxDeliveries: number;
  /**
   * How long a delivered message stays hidden before it is delivered again. AWS asks for six times
   * the consumer's timeout, so that a throttled invocation is retried first.
   */
  readonly visibilitySeconds: number;
  /**
   * An alarm goes off when a message has waited this long, by SQS's metric or by the `EventAge`
   * that its consumer logs.
   */
  readonly alarmSeconds: number;
  readonly consumer: QueueConsumer;
}

/**
 * What takes the messages of a queue: a function, by its name in other-functions.ts. It may serve
 * several queues.
 */
interface QueueConsumer {
  readonly function: string;
  /** Messages in one call, at most; a FIFO queue allows 10. */
  readonly batchSize: number;
  /** Calls at the same time, at most. */
  readonly concurrency: number;
}

/** How long dead letters are kept: as long as SQS can. */
export const deadLetterRetentionDays = 14;

export const queues = {
  /**
   * Lifecycle events of batches and jobs, sent by the machines that run them. The message group is
   * the owner.
   */
  Events: {
    fifo: true,
    environmentVariable: 'EVENTS_QUEUE_URL',
    deadLetterVariable: 'EVENTS_DEAD_LETTERS_URL',
    retentionDays: 4,
    // For 12 hours. Only an outage of a dependency makes an event come again.
    maxDeliveries: 480,
    visibilitySeconds: 90,
    alarmSeconds: 900,
    consumer: { function: 'applyEvents', batchSize: 10, concurrency: 10 },
  },
  /**
   * Events put aside by applyEvents because what they need is missing: they wait here without
   * blocking their owner.
   */
  WaitingEvents: {
    fifo: false,
    environmentVariable: 'WAITING_EVENTS_QUEUE_URL',
    deadLetterVariable: 'WAITING_EVENTS_DEAD_LETTERS_URL',
    retentionDays: 4,
    // For 24 hours, every 2 minutes.
    maxDeliveries: 720,
    visibilitySeconds: 120,
    // A batch that its sender merely sent too late has come long before.
    alarmSeconds: 6 * 3600,
    consumer: { function: 'applyWaitingEvents', batchSize: 10, concurrency: 2 },
  },
  /**
   * Batches whose creation, cancellation or end takes several transactions: announced before the
   * first of these, and looked at ten minutes later, in case the function that was at it died.
   */
  Recovery: {
    fifo: false,
    environmentVariable: 'RECOVERY_QUEUE_URL',
    deadLetterVariable: 'RECOVERY_DEAD_LETTERS_URL',
    retentionDays: 4,
    // 12 hours: only an outage of a dependency makes a batch be looked at again.
    maxDeliveries: 60,
    visibilitySeconds: 720,
    alarmSeconds: 1_800,
    consumer: { function: 'recoverBatches', batchSize: 1, concurrency: 2 },
  },
  /**
   * Messages for the receivers of webhooks. A message that waits for its next try is sent anew,
   * with a delay: hidden messages would count as in flight. A queue has at most 120,000 of these,
   * so that one dead receiver could fill it for all. The message group is the owner: in a standard
   * queue it keeps no order, but an owner of very many messages does not delay the others (fair
   * queues).
   */
  Webhooks: {
    fifo: false,
    environmentVariable: 'WEBHOOKS_QUEUE_URL',
    deadLetterVariable: 'WEBHOOKS_DEAD_LETTERS_URL',
    retentionDays: 4,
    // For 12 hours. Only an outage of a dependency makes a message come again.
    maxDeliveries: 360,
    visibilitySeconds: 120,
    // A delay of 15 minutes counts as age.
    alarmSeconds: 2_700,
    // A receiver that does not answer keeps one of these for 15 s. Together they count the calls of
    // one host up to about 800 times a second: its counter takes 1,000.
    consumer: { function: 'deliverWebhooks', batchSize: 10, concurrency: 5 },
  },
} as const satisfies Record<string, QueueDescription>;

export type QueueName = keyof typeof queues;

/** A queue, or its dead-letter queue as `Queue/dead_letters`. */
export type QueueOrDeadLetters = QueueName | `${QueueName}/dead_letters`;

/** Names of the functions that queues feed. */
export type ConsumerName = (typeof queues)[QueueName]['consumer']['function'];
