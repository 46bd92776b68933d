import { createHash, randomUUID } from 'node:crypto';
import type { SQSEvent } from 'aws-lambda';

interface Delivery {
  /** Which delivery of the messages it is. Default: the first. */
  readonly receiveCount?: number;
  /** Default: now. */
  readonly sentAt?: number;
  /** Of messages that were sent again: when they were sent first. */
  readonly firstSentAt?: number | undefined;
  /** By the place in the delivery. Default: any. */
  readonly messageId?: (at: number) => string;
}

/** What SQS delivers of these bodies; whatever is no text as JSON. */
export function sqsEvent(
  bodies: readonly unknown[],
  { receiveCount = 1, sentAt = Date.now(), firstSentAt, messageId = () => randomUUID() }: Delivery = {},
): SQSEvent {
  const Records = bodies.map((content, at) => {
    const body = typeof content === 'string' ? content : JSON.stringify(content);
    return {
      messageId: messageId(at),
      receiptHandle: 'AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a',
      body,
      attributes: {
        ApproximateReceiveCount: String(receiveCount),
        SentTimestamp: String(sentAt),
        SenderId: 'AIDAIENQZJOLO23YVJ4VO',
        ApproximateFirstReceiveTimestamp: String(sentAt + 1),
        MessageGroupId: (content as { user_id?: string }).user_id ?? 'no owner',
      },
      messageAttributes: {
        ...(firstSentAt !== undefined && {
          sent_at: { stringValue: String(firstSentAt), dataType: 'String' as const },
        }),
      },
      md5OfBody: createHash('md5').update(body).digest('hex'),
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:eu-west-3:123456789012:events',
      awsRegion: 'eu-west-3',
    };
  });
  return { Records };
}
