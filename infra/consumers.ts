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

/** The functions that queues feed, each with the rights and the event source mappings for its queues. */
export class Consumers extends Construct {
  readonly functions: Readonly<Record<ConsumerName, ServiceFunction>>;

  constructor(scope: Construct, id: string, props: ConsumersProps) {
    super(scope, id);
    const descriptions = Object.entries<QueueDescription>(queues);
    const names = new Set(descriptions.map(([, { consumer }]) => consumer.function as ConsumerName));
    this.functions = Object.fromEntries(
      Array.from(names, (name) => [
        name,
        new ServiceFunction(this, capitalize(name), {
          function: otherFunctions[name],
          resources: props.resources,
          settings: props.settings,
        }),
      ]),
    ) as Record<ConsumerName, ServiceFunction>;
    for (const [name, description] of descriptions) {
      const { queueArn } = props.queues.queues[name as QueueName].queue;
      this.#feed(`${name}Deliveries`, queueArn, description);
    }
  }

  #feed(id: string, queueArn: string, { consumer, visibilitySeconds }: QueueDescription) {
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
      maxConcurrency: consumer.concurrency,
    });
  }
}
