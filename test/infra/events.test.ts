import { describe, expect, it } from 'vitest';
import { synthesize } from '../support/synthesize.ts';

const { ofType, one, readable, outputs } = synthesize();
const queue = one('AWS::SQS::Queue', 'Events/Queue').properties;
const deadLetters = one('AWS::SQS::Queue', 'Events/DeadLetters').properties;

describe('the event queues', () => {
  it.each(ofType('AWS::SQS::Queue'))('are encrypted and take TLS only: $path', ({ path, properties }) => {
    const policy = ofType('AWS::SQS::QueuePolicy').find((each) => each.properties.Queues.map(readable).includes(path))!;
    expect(properties.SqsManagedSseEnabled).toBe(true);
    expect(policy.properties.PolicyDocument.Statement).toEqual([
      expect.objectContaining({
        Effect: 'Deny',
        Principal: { AWS: '*' },
        Action: 'sqs:*',
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      }),
    ]);
  });

  it('give an event up after 8 deliveries, to where it is kept for 14 days', () => {
    expect(readable(queue.RedrivePolicy.deadLetterTargetArn)).toBe('Events/DeadLetters');
    expect(queue.RedrivePolicy.maxReceiveCount).toBe(8);
    expect(deadLetters.MessageRetentionPeriod).toBe(14 * 24 * 3600);
    expect(deadLetters).not.toHaveProperty('RedrivePolicy');
  });

  it('hide an event under work for six times as long as the function may take', () => {
    const { Timeout } = one('AWS::Lambda::Function', 'Events/ApplyEvents').properties;
    expect(queue.VisibilityTimeout).toBeGreaterThanOrEqual(6 * Timeout);
  });

  it('are among the outputs', () => {
    expect(readable(outputs.EventsQueueUrl)).toBe('Events/Queue');
    expect(readable(outputs.DeadLetterQueueUrl)).toBe('Events/DeadLetters');
  });
});

describe('the delivery of events', () => {
  it('is to the consumer, in batches of which each event can fail alone, on few instances at once', () => {
    const [mapping, ...others] = ofType('AWS::Lambda::EventSourceMapping');
    expect(others).toEqual([]);
    expect(readable(mapping!.properties.EventSourceArn)).toBe('Events/Queue');
    expect(readable(mapping!.properties.FunctionName)).toBe('Events/ApplyEvents');
    expect(mapping!.properties).toMatchObject({
      BatchSize: 10,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: 10 },
    });
  });
});
