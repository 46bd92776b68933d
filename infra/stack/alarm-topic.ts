import { Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { StageSettings } from './stages.ts';

/**
 * The topic for alarms. Only CloudWatch of this account can publish to it, and services that
 * `letPublish` names. It needs its own key, because the policy of the key that AWS keeps for SNS
 * does not let CloudWatch use it.
 */
export function createAlarmTopic(scope: Construct, settings: StageSettings): Topic {
  const key = new Key(scope, 'TopicKey', { enableKeyRotation: true, removalPolicy: settings.removalPolicy });
  const topic = new Topic(scope, 'Topic', { masterKey: key, enforceSSL: true });
  letPublish('cloudwatch.amazonaws.com', topic);
  return topic;
}

/** Lets a service publish to the topic, for this account alone. */
export function letPublish(service: string, topic: Topic): void {
  const statement = {
    principals: [new ServicePrincipal(service)],
    conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(topic).account } },
  };
  topic.masterKey!.addToResourcePolicy(
    new PolicyStatement({ ...statement, actions: ['kms:Decrypt', 'kms:GenerateDataKey*'], resources: ['*'] }),
  );
  topic.addToResourcePolicy(
    new PolicyStatement({ ...statement, actions: ['sns:Publish'], resources: [topic.topicArn] }),
  );
}
