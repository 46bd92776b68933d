import { Duration } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, type IEventSourceDlq, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { otherFunctions } from '../../functions/other-functions.ts';
import { type ConsumerName, type QueueDescription, type QueueName, queues } from '../../functions/queues.ts';
import {
  type StreamConsumerName,
  type StreamDescription,
  type TableDescription,
  type TableName,
  tables,
} from '../../functions/tables.ts';
import { createLog } from './logs.ts';
import type { Queues } from './queues.ts';
import { recursiveFunctions } from './recursion.ts';
import { capitalize, ServiceFunction, type UsableResources } from './service-function.ts';
import type { StageSettings } from './stages.ts';
import type { Storage } from './storage.ts';

interface ConsumersProps {
  readonly storage: Storage;
  readonly queues: Queues;
  readonly resources: UsableResources;
  readonly settings: StageSettings;
}

type Consumer = ConsumerName | StreamConsumerName;

/**
 * The functions that queues and streams feed, each with the rights and the event source mappings
 * for them.
 */
export class Consumers extends Construct {
  readonly log: LogGroup;
  readonly functions: Readonly<Record<Consumer, ServiceFunction>>;

  constructor(scope: Construct, id: string, props: ConsumersProps) {
    super(scope, id);
    const ofQueues = Object.entries<QueueDescription>(queues);
    const ofStreams = Object.entries<TableDescription>(tables).flatMap(([name, { stream }]) =>
      stream === undefined ? [] : [[name, stream] as const],
    );
    const names = new Set([
      ...ofQueues.map(([, { consumer }]) => consumer.function as Consumer),
      ...ofStreams.map(([, { consumer }]) => consumer as Consumer),
    ]);
    this.log = createLog(this, 'Log', props.settings);
    const recursive = recursiveFunctions(otherFunctions, queues);
    this.functions = Object.fromEntries(
      Array.from(names, (name) => [
        name,
        new ServiceFunction(this, capitalize(name), {
          function: otherFunctions[name],
          resources: props.resources,
          log: this.log,
          recursive: recursive.has(name),
        }),
      ]),
    ) as Record<Consumer, ServiceFunction>;
    for (const [name, description] of ofQueues) {
      const { queueArn } = props.queues.queues[name as QueueName].queue;
      this.#feed(`${name}Deliveries`, queueArn, description, props.settings);
    }
    for (const [name, description] of ofStreams) {
      const streamArn = props.storage.tables[name as TableName].tableStreamArn!;
      const givenUp = props.resources[description.givenUp]!.arn;
      this.#stream(`${name}Changes`, { streamArn, givenUp, description });
    }
  }

  #feed(
    id: string,
    queueArn: string,
    { consumer, visibilitySeconds }: QueueDescription,
    { maxConsumers = consumer.concurrency }: StageSettings,
  ) {
    const target = this.functions[consumer.function as ConsumerName];
    if (visibilitySeconds < 6 * target.timeout!.toSeconds()) {
      throw new Error(`${id}: a message must stay hidden for at least six times the timeout of ${consumer.function}.`);
    }
    target.addToRolePolicy(
      new PolicyStatement({
        actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
        resources: [queueArn],
      }),
    );
    new EventSourceMapping(this, id, {
      target,
      eventSourceArn: queueArn,
      batchSize: consumer.batchSize,
      reportBatchItemFailures: true,
      maxConcurrency: Math.min(consumer.concurrency, maxConsumers),
    });
  }

  /**
   * Starts at the oldest record. A batch that fails is halved until the record at fault is alone.
   */
  #stream(id: string, { streamArn, givenUp, description }: Stream) {
    const target = this.functions[description.consumer as StreamConsumerName];
    target.addToRolePolicy(
      new PolicyStatement({
        actions: [
          'dynamodb:DescribeStream',
          'dynamodb:GetRecords',
          'dynamodb:GetShardIterator',
          'dynamodb:ListStreams',
        ],
        resources: [streamArn],
      }),
    );
    // The function may send there by its `uses`.
    const onFailure: IEventSourceDlq = { bind: () => ({ destination: givenUp }) };
    new EventSourceMapping(this, id, {
      target,
      eventSourceArn: streamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: description.batchSize,
      ...(description.windowSeconds !== undefined && {
        maxBatchingWindow: Duration.seconds(description.windowSeconds),
      }),
      filters: description.patterns.map((pattern) => ({ pattern: JSON.stringify(pattern) })),
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      maxRecordAge: Duration.hours(description.maxAgeHours),
      onFailure,
    });
  }
}

interface Stream {
  readonly streamArn: string;
  readonly givenUp: string;
  readonly description: StreamDescription;
}
