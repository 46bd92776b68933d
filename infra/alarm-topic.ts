import { Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { StageSettings } from './stages.ts';

/**
 * The topic for alarms. Only CloudWatch of this account can publish to it. The topic needs its own
 * key, because the policy of the key that AWS keeps for SNS does not let CloudWatch use it.
 */
export function createAlarmTopic(scope: Construct, settings: StageSettings): Topic {
  const cloudWatch = new ServicePrincipal('cloudwatch.amazonaws.com');
  const conditions = { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } };
  const key = new Key(scope, 'TopicKey', { enableKeyRotation: true, removalPolicy: settings.removalPolicy });
  key.addToResourcePolicy(
    new PolicyStatement({
      principals: [cloudWatch],
      actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      resources: ['*'],
      conditions,
    }),
  );
  const topic = new Topic(scope, 'Topic', { masterKey: key, enforceSSL: true });
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [cloudWatch],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions,
    }),
  );
  return topic;
}
