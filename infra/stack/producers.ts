import { Stack, Validations } from 'aws-cdk-lib';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { CfnBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { resultsPrefix } from '../../functions/values/results-key.ts';
import type { Queues } from './queues.ts';
import type { Storage } from './storage.ts';

interface ProducersProps {
  readonly queues: Queues;
  readonly storage: Storage;
}

/**
 * Rights for the machines that run the jobs: managed policies that an administrator attaches to
 * their roles.
 */
export class Producers extends Construct {
  readonly sendEvents: ManagedPolicy;
  readonly uploadResults: ManagedPolicy;

  constructor(scope: Construct, id: string, { queues, storage }: ProducersProps) {
    super(scope, id);
    this.sendEvents = new ManagedPolicy(this, 'SendEvents', {
      description: 'Sends lifecycle events of batches and jobs.',
      statements: [
        new PolicyStatement({
          actions: ['sqs:SendMessage', 'sqs:GetQueueUrl'],
          resources: [queues.queues.Events.queue.queueArn],
        }),
      ],
    });
    this.uploadResults = new ManagedPolicy(this, 'UploadResults', {
      description: 'Uploads the results of jobs.',
      statements: [
        new PolicyStatement({
          actions: ['s3:PutObject', 's3:AbortMultipartUpload'],
          resources: [storage.results.arnForObjects(`${resultsPrefix}*`)],
        }),
      ],
    });
    const bucket = Stack.of(this).getLogicalId(storage.results.node.defaultChild as CfnBucket);
    Validations.of(this.uploadResults).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${bucket}.Arn>/${resultsPrefix}*]`,
      reason: 'The machines that run the jobs upload the results of every user, and nothing else in the bucket.',
    });
  }
}
