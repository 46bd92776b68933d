import { hash, randomUUID } from 'node:crypto';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type { LambdaFunction } from '../lambda/lambda-function.ts';
import type { EventSourceDefinition } from '../template/deployment.ts';
import type { Message, Queue } from './queue.ts';

/** As many invocations at a time as one machine does well, where the template allows more. */
const maxInvocations = 4;

/** Here a minute of a queue's visibility timeout lasts a second. */
const visibilityFactor = 60;

/**
 * Delivers a queue's messages to a function as SQS's event source mappings do: in batches, again
 * after the visibility timeout where the function says that they failed. The returned function ends
 * it.
 */
export function startEventSource(source: EventSourceDefinition, queue: Queue, target: LambdaFunction): () => void {
  const concurrency = Math.min(source.maxConcurrency ?? maxInvocations, maxInvocations);
  const visibilityTimeout = (queue.definition.visibilityTimeoutSeconds * 1000) / visibilityFactor;
  let running = 0;
  let stopped = false;
  let pollIsDue = false;
  queue.onVisible(schedulePoll);
  schedulePoll();
  return () => {
    stopped = true;
  };

  /** Once for all messages that one caller sends: they share batches. */
  function schedulePoll() {
    if (pollIsDue) return;
    pollIsDue = true;
    setImmediate(() => {
      pollIsDue = false;
      poll();
    });
  }

  function poll() {
    while (!stopped && running < concurrency) {
      const batch = queue.receive(source.batchSize);
      if (batch.length === 0) return;
      running += 1;
      void deliver(batch).then(() => {
        running -= 1;
        poll();
      });
    }
  }

  async function deliver(batch: readonly Message[]) {
    const { failed, reason } = await invoke(batch);
    for (const message of batch) {
      if (failed.has(message)) {
        message.failure = reason;
        queue.release(message, visibilityTimeout);
      } else {
        queue.delete(message);
      }
    }
  }

  async function invoke(batch: readonly Message[]): Promise<{ failed: ReadonlySet<Message>; reason: string }> {
    const event: SQSEvent = { Records: batch.map((message) => toRecord(message, queue.definition.arn)) };
    let response: SQSBatchResponse | null;
    const traceHeaders = batch.flatMap(({ traceHeader = [] }) => traceHeader);
    try {
      response = (await target.invoke(event, { traceHeaders })) as SQSBatchResponse | null;
    } catch (error) {
      return { failed: new Set(batch), reason: error instanceof Error ? error.message : String(error) };
    }
    const reason = `${target.definition.name} did not apply it.`;
    if (!source.reportsItemFailures) return { failed: new Set(), reason };
    const failedIds = new Set((response?.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier));
    const failed = batch.filter(({ messageId }) => failedIds.has(messageId));
    // As on AWS: an answer that names a message that is not there fails the whole batch.
    return { failed: new Set(failed.length === failedIds.size ? failed : batch), reason };
  }
}

function toRecord(message: Message, queueArn: string): SQSRecord {
  const { messageId, body, attributes, receiveCount, sentAt, firstReceivedAt = sentAt } = message;
  return {
    messageId,
    receiptHandle: randomUUID(),
    body,
    attributes: {
      ApproximateReceiveCount: String(receiveCount),
      SentTimestamp: String(sentAt),
      SenderId: 'local',
      ApproximateFirstReceiveTimestamp: String(firstReceivedAt),
      ...(message.traceHeader !== undefined && { AWSTraceHeader: message.traceHeader }),
      ...(message.groupId !== undefined && { MessageGroupId: message.groupId }),
      ...(message.deduplicationId !== undefined && { MessageDeduplicationId: message.deduplicationId }),
      ...(message.sequenceNumber !== undefined && { SequenceNumber: message.sequenceNumber }),
    },
    messageAttributes: Object.fromEntries(
      Object.entries(attributes).map(([name, stringValue]) => [name, { stringValue, dataType: 'String' }]),
    ),
    md5OfBody: hash('md5', body),
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: queueArn.split(':')[3] ?? '',
  };
}
