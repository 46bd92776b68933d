import { describe, expect, it } from 'vitest';
import { type QueueDescription, type QueueName, queues } from '../../functions/queues.ts';
import { synthesize } from '../support/synthesize.ts';

const { ofType, one, readable, outputs } = synthesize();
const descriptions = Object.entries<QueueDescription>(queues);

describe.each(descriptions)('the queue %s', (name, description) => {
  const queue = one('AWS::SQS::Queue', `Queues/${name}`).properties;
  const deadLetters = one('AWS::SQS::Queue', `Queues/${name}DeadLetters`).properties;
  const [mapping, ...otherMappings] = ofType('AWS::Lambda::EventSourceMapping').filter(
    ({ properties }) => readable(properties.EventSourceArn) === `Queues/${name}`,
  );

  it('keeps, hides and gives up messages as its description says', () => {
    expect(queue.MessageRetentionPeriod).toBe(description.retentionDays * 24 * 3600);
    expect(queue.VisibilityTimeout).toBe(description.visibilitySeconds);
    expect(readable(queue.RedrivePolicy.deadLetterTargetArn)).toBe(`Queues/${name}DeadLetters`);
    expect(queue.RedrivePolicy.maxReceiveCount).toBe(description.maximumDeliveries);
  });

  it('is a FIFO queue of many groups, or a standard queue, and its dead-letter queue too', () => {
    for (const { FifoQueue, ContentBasedDeduplication, DeduplicationScope, FifoThroughputLimit } of [
      queue,
      deadLetters,
    ]) {
      expect([FifoQueue, ContentBasedDeduplication, DeduplicationScope, FifoThroughputLimit]).toEqual(
        description.fifo ? [true, false, 'messageGroup', 'perMessageGroupId'] : Array(4).fill(undefined),
      );
    }
  });

  it('keeps dead letters for 14 days', () => {
    expect(deadLetters.MessageRetentionPeriod).toBe(14 * 24 * 3600);
    expect(deadLetters).not.toHaveProperty('RedrivePolicy');
  });

  it('feeds its consumer in batches of which each message can fail alone', () => {
    const { function: consumer, batchSize, concurrency } = description.consumer;
    expect(otherMappings).toEqual([]);
    expect(readable(mapping!.properties.FunctionName)).toBe(
      `Consumers/${consumer[0]!.toUpperCase()}${consumer.slice(1)}`,
    );
    expect(mapping!.properties).toMatchObject({
      BatchSize: batchSize,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: concurrency },
    });
    // A FIFO queue takes no more and no window; AWS allows no fewer than two calls at a time.
    expect(batchSize).toBeLessThanOrEqual(10);
    expect(concurrency).toBeGreaterThanOrEqual(2);
    expect(mapping!.properties).not.toHaveProperty('MaximumBatchingWindowInSeconds');
  });

  it('hides a message for six times as long as its consumer may take', () => {
    const { Timeout } = one('AWS::Lambda::Function', readable(mapping!.properties.FunctionName)).properties;
    expect(queue.VisibilityTimeout).toBeGreaterThanOrEqual(6 * Timeout);
  });

  it('is among the outputs, with its dead letters', () => {
    expect(readable(outputs[`${name}QueueUrl`])).toBe(`Queues/${name}`);
    expect(readable(outputs[`${name}DeadLettersUrl`])).toBe(`Queues/${name}DeadLetters`);
  });
});

interface QueuePromises {
  readonly inOrder: boolean;
  /** How long an outage may last, or a batch come after its event. */
  readonly hours: number;
  readonly alarmMinutes: number;
}

/** What docs/events.md, docs/webhooks.md and docs/runbook.md promise. */
const promises: Record<QueueName, QueuePromises> = {
  Events: { inOrder: true, hours: 12, alarmMinutes: 15 },
  WaitingEvents: { inOrder: false, hours: 24, alarmMinutes: 6 * 60 },
  Recovery: { inOrder: false, hours: 12, alarmMinutes: 30 },
  Webhooks: { inOrder: false, hours: 12, alarmMinutes: 45 },
};

describe.each(Object.entries(promises))('a message of the queue %s', (name, { inOrder, hours, alarmMinutes }) => {
  const queue = one('AWS::SQS::Queue', `Queues/${name}`).properties;

  it(`is delivered again for ${hours} hours, and long enough kept for that`, () => {
    expect(queue.RedrivePolicy.maxReceiveCount * queue.VisibilityTimeout).toBe(hours * 3600);
    expect(queue.MessageRetentionPeriod).toBeGreaterThanOrEqual(2 * hours * 3600);
    // What SQS allows.
    expect(queue.RedrivePolicy.maxReceiveCount).toBeLessThanOrEqual(1000);
  });

  it(`is delivered in ${inOrder ? 'the order of its group' : 'any order'}`, () => {
    expect(queue.FifoQueue ?? false).toBe(inOrder);
  });

  it('is delivered again within two minutes', () => {
    expect(queue.VisibilityTimeout).toBeLessThanOrEqual(120);
  });

  it(`goes off as an alarm after ${alarmMinutes} minutes`, () => {
    expect(one('AWS::CloudWatch::Alarm', `Monitoring/${name}Age`).properties.Threshold).toBe(alarmMinutes * 60);
  });
});

describe('the queues', () => {
  it('give events up after 12 hours of outage, waiting ones after a day', () => {
    const hours = ({ maximumDeliveries, visibilitySeconds }: QueueDescription) =>
      (maximumDeliveries * visibilitySeconds) / 3600;
    expect(hours(queues.Events)).toBe(12);
    expect(hours(queues.WaitingEvents)).toBe(24);
  });

  it('are those of the fact sheet, each with its dead letters', () => {
    const paths = ofType('AWS::SQS::Queue').map(({ path }) => path);
    expect(paths.sort()).toEqual(
      descriptions.flatMap(([name]) => [`Queues/${name}`, `Queues/${name}DeadLetters`]).sort(),
    );
  });

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

  it('feed no function but their consumers', () => {
    const ofQueues = ofType('AWS::Lambda::EventSourceMapping').filter(({ properties }) =>
      readable(properties.EventSourceArn).startsWith('Queues/'),
    );
    expect(ofQueues).toHaveLength(descriptions.length);
  });
});
