import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';

/** The queue for messages that can never be applied, each with attributes that say why. */
export function deadLetters(queueUrl: string, client = sqsClient()) {
  return {
    /** Empty attributes are left out, long ones are cut. Throws when the queue does not take the message. */
    async send(body: string, attributes: Readonly<Record<string, string>>): Promise<void> {
      await client.send(
        new SendMessageCommand({
          QueueUrl: queueUrl,
          MessageBody: body,
          MessageAttributes: Object.fromEntries(
            Object.entries(attributes)
              .map(([name, value]) => [name, attributeText(value)] as const)
              .filter(([, value]) => value !== '')
              .map(([name, value]) => [name, { DataType: 'String', StringValue: value }]),
          ),
        }),
      );
    },
  };
}

function sqsClient(): SQSClient {
  return new SQSClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 1_000, throwOnRequestTimeout: true },
  });
}

const longestAttribute = 1_000;

/** SQS takes the characters of XML 1.0 only. */
function attributeText(value: string): string {
  return value
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\u{fffd}')
    .slice(0, longestAttribute)
    .toWellFormed();
}
