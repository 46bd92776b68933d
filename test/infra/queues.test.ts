import { describe, expect, it } from 'vitest';
import { type QueueDescription, type QueueName, queues } from '../../functions/queues.ts';
import { synthesize } from '../support/synthesize.ts';

const { ofType, one, readable, outputs } = await synthesize();
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
    expect(queue.RedrivePolicy.maxReceiveCount).toBe(description.maxDeliveries);
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

  it('feeds its consumer in batches, and each message of a batch can fail alone', () => {
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
  /** How soon they are delivered again, at most. */
  readonly minutes: number;
}

/** What the documents promise. */
const promises: Record<QueueName, QueuePromises> = {
  Events: { inOrder: true, hours: 12, alarmMinutes: 15, minutes: 1.5 },
  WaitingEvents: { inOrder: false, hours: 24, alarmMinutes: 6 * 60, minutes: 2 },
  Recovery: { inOrder: false, hours: 12, alarmMinutes: 30, minutes: 12 },
  Webhooks: { inOrder: false, hours: 12, alarmMinutes: 45, minutes: 2 },
};

describe('the messages of the queues', () => {
  const found = Object.keys(promises).map((name) => ({
    name,
    queue: one('AWS::SQS::Queue', `Queues/${name}`).properties,
    alarm: one('AWS::CloudWatch::Alarm', `Monitoring/${name}Age`).properties,
  }));

  it('are delivered again so soon and for so long, in this order, and go off as an alarm after this time', () => {
    const kept = found.map(({ name, queue, alarm }) => [
      name,
      {
        inOrder: queue.FifoQueue ?? false,
        hours: (queue.RedrivePolicy.maxReceiveCount * queue.VisibilityTimeout) / 3600,
        alarmMinutes: alarm.Threshold / 60,
        minutes: queue.VisibilityTimeout / 60,
      },
    ]);
    expect(Object.fromEntries(kept)).toEqual(promises);
  });

  it('are kept for twice as long as they are delivered again', () => {
    for (const { name, queue } of found) {
      const hours = promises[name as QueueName].hours;
      expect(queue.MessageRetentionPeriod, name).toBeGreaterThanOrEqual(2 * hours * 3600);
      // What SQS allows.
      expect(queue.RedrivePolicy.maxReceiveCount, name).toBeLessThanOrEqual(1000);
    }
  });
});

describe('the queues', () => {
  it('exist for each description, each with its dead letters', () => {
    const paths = ofType('AWS::SQS::Queue').map(({ path }) => path);
    expect(paths.sort()).toEqual(
      descriptions.flatMap(([name]) => [`Queues/${name}`, `Queues/${name}DeadLetters`]).sort(),
    );
  });

  it('are encrypted and take TLS only', () => {
    const all = ofType('AWS::SQS::Queue');
    const policies = ofType('AWS::SQS::QueuePolicy').map(({ properties }) => properties);
    const found = all.map(({ path, properties }) => {
      const policy = policies.find(({ Queues }) => Queues.map(readable).includes(path));
      return [path, properties.SqsManagedSseEnabled, policy?.PolicyDocument.Statement];
    });
    const refusal = expect.objectContaining({
      Effect: 'Deny',
      Principal: { AWS: '*' },
      Action: 'sqs:*',
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    });
    expect(found).toEqual(all.map(({ path }) => [path, true, [refusal]]));
  });

  it('feed no function but their consumers', () => {
    const ofQueues = ofType('AWS::Lambda::EventSourceMapping').filter(({ properties }) =>
      readable(properties.EventSourceArn).startsWith('Queues/'),
    );
    expect(ofQueues).toHaveLength(descriptions.length);
  });
});
