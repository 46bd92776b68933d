import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';

export interface OutgoingMessage {
  /** JSON, or a body that a queue has delivered. */
  readonly body: string;
  /**
   * Empty attributes are left out, and long ones are cut. All are left out if body and attributes
   * together exceed SQS's limit.
   */
  readonly attributes: Readonly<Record<string, string>>;
  /** A FIFO queue asks for both. */
  readonly fifo?: { readonly groupId: string; readonly deduplicationId: string };
  /**
   * In a standard queue, the owner. SQS's fair queues keep an owner of many messages from delaying
   * others.
   */
  readonly groupId?: string;
  /** How long the queue hides the message at first. FIFO queues do not take it. */
  readonly delaySeconds?: number;
}

export interface MessageQueue {
  readonly url: string;
  readonly client: SQSClient;
}

/** Its client is made when the first message is sent: most calls send none. */
export function messageQueue(url: string): MessageQueue {
  let client: SQSClient | undefined;
  return {
    url,
    get client() {
      client ??= new SQSClient({
        maxAttempts: 3,
        requestHandler: { connectionTimeout: 1_000, requestTimeout: 1_000, throwOnRequestTimeout: true },
      });
      return client;
    },
  };
}

/** Sends a message. Throws when the queue does not take it. */
export async function sendMessage(
  { url, client }: MessageQueue,
  { body, attributes, fifo, groupId, delaySeconds }: OutgoingMessage,
): Promise<void> {
  await client.send(
    new SendMessageCommand({
      QueueUrl: url,
      MessageBody: bodyText(body),
      MessageAttributes: messageAttributes(body, attributes),
      ...(fifo !== undefined && { MessageGroupId: fifo.groupId, MessageDeduplicationId: fifo.deduplicationId }),
      ...(groupId !== undefined && { MessageGroupId: groupId }),
      ...(delaySeconds !== undefined && { DelaySeconds: delaySeconds }),
    }),
  );
}

/**
 * SQS refuses a body with characters that XML 1.0 does not have. JSON.stringify escapes them all
 * but these two; in JSON they can only be within texts.
 */
function bodyText(body: string): string {
  return body.replaceAll('\u{fffe}', '\\ufffe').replaceAll('\u{ffff}', '\\uffff');
}

/** SQS's limit of body and attributes (names, types and values) together: 1 MiB. */
const maxMessageBytes = 1_048_576;

function messageAttributes(body: string, attributes: OutgoingMessage['attributes']) {
  const texts = Object.entries(attributes)
    .map(([name, value]) => [name, attributeText(value)] as const)
    .filter(([, value]) => value !== '');
  const bytes = [body, ...texts.flat(), ...texts.map(() => 'String')].reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    0,
  );
  if (bytes > maxMessageBytes) return {};
  return Object.fromEntries(texts.map(([name, value]) => [name, { DataType: 'String', StringValue: value }]));
}

const maxAttributeCharacters = 1_000;

/** SQS takes the characters of XML 1.0 only. */
function attributeText(value: string): string {
  return value
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\u{fffd}')
    .slice(0, maxAttributeCharacters)
    .toWellFormed();
}
