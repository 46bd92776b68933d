import { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { maximumDeliveries, otherFunctions } from '../functions/routes.ts';
import { ServiceFunction, type UsableResources } from './service-function.ts';
import type { StageSettings } from './stages.ts';

interface EventsProps {
  readonly resources: UsableResources;
  readonly settings: StageSettings;
}

/** The way in for lifecycle events: a queue, the function that applies them, and a queue for those that cannot be applied. */
export class Events extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;
  readonly applyEvents: ServiceFunction;

  constructor(scope: Construct, id: string, { resources, settings }: EventsProps) {
    super(scope, id);
    this.deadLetters = new Queue(this, 'DeadLetters', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    this.applyEvents = new ServiceFunction(this, 'ApplyEvents', {
      function: otherFunctions.applyEvents,
      settings,
      resources: {
        ...resources,
        DeadLetters: {
          service: 'sqs',
          arn: this.deadLetters.queueArn,
          environment: { DEAD_LETTER_QUEUE_URL: this.deadLetters.queueUrl },
        },
      },
    });
    this.queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(4),
      // AWS asks for six times the function's timeout, so that a throttled invocation is retried before the message shows again.
      visibilityTimeout: Duration.seconds(6 * this.applyEvents.timeout!.toSeconds()),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: maximumDeliveries },
    });
    this.applyEvents.addToRolePolicy(
      new PolicyStatement({
        actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
        resources: [this.queue.queueArn],
      }),
    );
    new EventSourceMapping(this, 'Deliveries', {
      target: this.applyEvents,
      eventSourceArn: this.queue.queueArn,
      batchSize: 10,
      reportBatchItemFailures: true,
      maxConcurrency: 10,
    });
  }
}
