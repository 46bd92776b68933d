import { Duration } from 'aws-cdk-lib';
import { DeduplicationScope, FifoThroughputLimit, Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { deadLetterRetentionDays, type QueueDescription, type QueueName, queues } from '../../functions/queues.ts';
import type { UsableResources } from './service-function.ts';

/** A queue, and the queue for its messages that could not be handled. */
interface QueuePair {
  readonly queue: Queue;
  readonly deadLetters: Queue;
}

/**
 * The queues of functions/queues.ts, each with its dead-letter queue: `Events` and
 * `EventsDeadLetters`.
 */
export class Queues extends Construct {
  readonly queues: Readonly<Record<QueueName, QueuePair>>;
  /** Each queue and each dead-letter queue as functions may use them. */
  readonly resources: UsableResources;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const descriptions = Object.entries<QueueDescription>(queues);
    this.queues = Object.fromEntries(
      descriptions.map(([name, description]) => [name, createQueue(this, name, description)]),
    ) as Record<QueueName, QueuePair>;
    this.resources = Object.fromEntries(
      descriptions.flatMap(([name, description]) => queueResources(name, description, this.queues[name as QueueName])),
    );
  }
}

function createQueue(scope: Construct, name: string, description: QueueDescription): QueuePair {
  const common: QueueProps = {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    ...(description.fifo && highThroughputFifo),
  };
  const deadLetters = new Queue(scope, `${name}DeadLetters`, {
    ...common,
    retentionPeriod: Duration.days(deadLetterRetentionDays),
  });
  const queue = new Queue(scope, name, {
    ...common,
    retentionPeriod: Duration.days(description.retentionDays),
    visibilityTimeout: Duration.seconds(description.visibilitySeconds),
    deadLetterQueue: { queue: deadLetters, maxReceiveCount: description.maxDeliveries },
  });
  return { queue, deadLetters };
}

/**
 * Groups have their own order, memory of ids and throughput: 300 calls a second each instead of for
 * the whole queue.
 */
const highThroughputFifo: QueueProps = {
  fifo: true,
  contentBasedDeduplication: false,
  deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
  fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
};

function queueResources(name: string, description: QueueDescription, { queue, deadLetters }: QueuePair) {
  const usable = (variable: string, { queueArn, queueUrl }: Queue) => ({
    service: 'sqs' as const,
    arn: queueArn,
    environment: { [variable]: queueUrl },
  });
  return [
    [name, usable(description.environmentVariable, queue)] as const,
    [`${name}/dead_letters`, usable(description.deadLetterVariable, deadLetters)] as const,
  ];
}
