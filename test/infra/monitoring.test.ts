import { describe, expect, it } from 'vitest';
import { metricDimension, metricNamespace, metrics } from '../../functions/metrics.ts';
import { synthesize } from '../support/synthesize.ts';

const { ofType, one, readable, outputs } = synthesize();
const alarm = (name: string) => one('AWS::CloudWatch::Alarm', `Monitoring/${name}`).properties;

describe('the alarms', () => {
  it.each([
    ['ServerErrors', 'AWS/ApiGateway', '5XXError', 'Sum'],
    ['Throttles', 'QuantumBatchApi-dev', 'Throttled', 'Sum'],
    ['AuthorizerErrors', 'QuantumBatchApi-dev', 'AuthorizerFailures', 'Sum'],
    ['JwksAge', metricNamespace, 'JwksAge', 'Maximum'],
    ['DeadLetters', 'AWS/SQS', 'ApproximateNumberOfMessagesVisible', 'Maximum'],
    ['EventAge', 'AWS/SQS', 'ApproximateAgeOfOldestMessage', 'Maximum'],
  ])('%s watches %s %s', (name, Namespace, MetricName, Statistic) => {
    expect(alarm(name)).toMatchObject({
      Namespace,
      MetricName,
      Statistic,
      Period: 300,
      ComparisonOperator: 'GreaterThanOrEqualToThreshold',
      TreatMissingData: 'notBreaching',
    });
  });

  it('Latency watches the slowest hundredth', () => {
    expect(alarm('Latency')).toMatchObject({
      Namespace: 'AWS/ApiGateway',
      MetricName: 'Latency',
      ExtendedStatistic: 'p99',
    });
  });

  it('are all there is, and tell the topic when they go off and when they end', () => {
    const alarms = ofType('AWS::CloudWatch::Alarm');
    expect(alarms).toHaveLength(7);
    for (const { properties } of alarms) {
      expect(properties.AlarmActions.map(readable)).toEqual(['Monitoring/Topic']);
      expect(properties.OKActions.map(readable)).toEqual(['Monitoring/Topic']);
      expect(properties.AlarmDescription).toMatch(/\.$/);
    }
  });

  it('go off at the first dead letter', () => {
    expect(alarm('DeadLetters')).toMatchObject({ Threshold: 1, EvaluationPeriods: 1 });
  });

  it('watch the metric of the issuer’s keys that the authorizer writes', () => {
    expect(metrics).toHaveProperty('JwksAge');
    const [dimension, ...others] = alarm('JwksAge').Dimensions;
    expect(others).toEqual([]);
    expect(dimension.Name).toBe(metricDimension);
    expect(readable(dimension.Value)).toBe('Api/Authorizer');
  });

  it.each([
    ['Throttled', '{ $.status = "429" }'],
    ['AuthorizerFailures', '{ $.responseType = "AUTHORIZER_*" }'],
  ])('count %s in the access log, by fields that it has', (name, pattern) => {
    const filter = one('AWS::Logs::MetricFilter', `Api/AccessLog/${name}`).properties;
    const format = JSON.parse(ofType('AWS::ApiGateway::Stage')[0]!.properties.AccessLogSetting.Format);
    expect(readable(filter.LogGroupName)).toBe('Api/AccessLog');
    expect(filter.FilterPattern).toBe(pattern);
    expect(format).toHaveProperty(/\$\.(\w+)/.exec(pattern)![1]!);
  });
});

describe('the alarm topic', () => {
  it('is encrypted with a key that CloudWatch may use', () => {
    expect(readable(one('AWS::SNS::Topic', 'Monitoring/Topic').properties.KmsMasterKeyId)).toBe('Monitoring/TopicKey');
    const key = one('AWS::KMS::Key', 'Monitoring/TopicKey').properties;
    expect(key.EnableKeyRotation).toBe(true);
    expect(key.KeyPolicy.Statement).toContainEqual(
      expect.objectContaining({
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
      }),
    );
  });

  it('takes messages from CloudWatch of this account only, by TLS only', () => {
    const [policy] = ofType('AWS::SNS::TopicPolicy');
    expect(policy!.properties.PolicyDocument.Statement).toEqual([
      expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    ]);
  });

  it('is among the outputs', () => {
    expect(readable(outputs.AlarmTopic)).toBe('Monitoring/Topic');
  });
});

describe('the dashboard', () => {
  it('exists once', () => {
    expect(ofType('AWS::CloudWatch::Dashboard')).toHaveLength(1);
  });
});
