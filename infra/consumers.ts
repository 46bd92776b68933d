import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { type ConsumerName, type QueueDescription, type QueueName, queues } from '../functions/queues.ts';
import { otherFunctions } from '../functions/routes.ts';
import type { Queues } from './queues.ts';
import { capitalize, ServiceFunction, type UsableResources } from './service-function.ts';
import type { StageSettings } from './stages.ts';

interface ConsumersProps {
  readonly queues: Queues;
  readonly resources: UsableResources;
  readonly settings: StageSettings;
}

/** The functions that queues feed, each with the rights and the event source mapping for its queue. */
export class Consumers extends Construct {
  readonly functions: Readonly<Record<ConsumerName, ServiceFunction>>;

  constructor(scope: Construct, id: string, { queues: built, resources, settings }: ConsumersProps) {
    super(scope, id);
    this.functions = Object.fromEntries(
      Object.entries<QueueDescription>(queues).map(([queueName, { consumer, visibilitySeconds }]) => {
        const name = consumer.function as ConsumerName;
        const { queueArn } = built.queues[queueName as QueueName].queue;
        const target = new ServiceFunction(this, capitalize(name), {
          function: otherFunctions[name],
          resources,
          settings,
        });
        if (visibilitySeconds < 6 * target.timeout!.toSeconds()) {
          throw new Error(`A message of ${queueName} must stay hidden for six times the timeout of ${name}.`);
        }
        target.addToRolePolicy(
          new PolicyStatement({
            actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
            resources: [queueArn],
          }),
        );
        new EventSourceMapping(this, `${queueName}Deliveries`, {
          target,
          eventSourceArn: queueArn,
          batchSize: consumer.batchSize,
          reportBatchItemFailures: true,
          maxConcurrency: consumer.concurrency,
        });
        return [name, target];
      }),
    ) as Record<ConsumerName, ServiceFunction>;
  }
}
