import {
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { parseJson } from '../../functions/values/json-text.ts';

/** Longer than a look at a queue takes; then others' messages are visible again by themselves. */
export const hiddenSeconds = 120;
/**
 * Answers without a message in a row after which a queue is empty: SQS asks a part of its servers
 * each time.
 */
const maxEmptyAnswers = 3;

/**
 * Deletes the messages of a queue that name the user, as far as they are visible; consumers get the
 * others a little later. Returns how many it deleted, and how many of anyone it could not see
 * because they are under way.
 */
export async function eraseMessages(sqs: SQSClient, QueueUrl: string, userId: string) {
  // Read first: the messages that this call hides must not count.
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['ApproximateNumberOfMessagesNotVisible'] }),
  );
  const others: string[] = [];
  let deleted = 0;
  try {
    for (let empty = 0; empty < maxEmptyAnswers; ) {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: hiddenSeconds }),
      );
      empty = Messages.length === 0 ? empty + 1 : 0;
      for (const { Body = '', ReceiptHandle } of Messages) {
        if (!names(Body, userId)) others.push(ReceiptHandle!);
        else {
          await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
          deleted += 1;
        }
      }
    }
  } finally {
    for (const ReceiptHandle of others) {
      await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
    }
  }
  return { deleted, underWay: Number(Attributes.ApproximateNumberOfMessagesNotVisible ?? 0) };
}

/** Whether a text of the message is the user's id: of a body that cannot be read, one in quotes. */
function names(body: string, userId: string): boolean {
  const value = parseJson(body);
  return value === undefined ? body.includes(JSON.stringify(userId)) : holds(value, userId);
}

function holds(value: unknown, text: string): boolean {
  if (value === text) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some((each) => holds(each, text));
}
