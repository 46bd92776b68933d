import type { Context, DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { documentClient } from '../data/dynamodb/client.ts';
import { messageSender } from '../data/message-sender.ts';
import { getWebhooksOfBatches } from '../data/webhooks-of-batches.ts';
import { queueUrl, tableNames, webhookReach } from '../env.ts';
import { addToRequestLog, describeError, withRequestLog, writeRequestLog } from '../request-log.ts';
import { EndedRow } from '../schemas/ended-row.ts';
import type { WebhookMessage } from '../schemas/webhook-message.ts';
import { derivedUuid } from '../uuid.ts';
import { readWebhook } from '../webhooks/webhook-url.ts';

const webhooksOf = getWebhooksOfBatches(documentClient(), tableNames('Batches'));
const messages = messageSender(queueUrl('Webhooks'));
const deadLetters = messageSender(queueUrl('Webhooks/dead_letters'));
const reach = webhookReach();

/** Messages that are sent at the same time. */
const parallelSends = 20;

interface Pick {
  readonly record: DynamoDBRecord;
  /** Undefined: the row breaks its schema. */
  readonly row: EndedRow | undefined;
}

/**
 * Sends a message for each batch and job that got its final status, if messages can be delivered to
 * the webhook of its batch. Expects records of rows that have ended: the stream's filter passes no
 * others. A record whose message could not be sent comes again, and so do the records after it:
 * their messages are then sent again, under the same ids. A row that breaks its schema becomes a
 * dead letter.
 */
export function handler({ Records }: DynamoDBStreamEvent, context: Context): Promise<DynamoDBBatchResponse> {
  return withRequestLog({ request_id: context.awsRequestId, messages: Records.length }, async () => {
    const failed: DynamoDBRecord[] = [];
    const faults: Record<string, unknown>[] = [];
    const waiting = Records.filter(hasNewStatus).map((record): Pick => ({ record, row: endedRowOf(record) }));
    const webhookOf = await webhooksOf(
      waiting.flatMap(({ row }) => (row === undefined || row.job === null ? [] : [row])),
    );
    let sent = 0;
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const { record, row } = next;
        try {
          if (row === undefined) await deadLetters.send(corruptRow(record));
          else sent += await announce(row, 'webhook' in row ? row.webhook : webhookOf(row));
        } catch (error) {
          failed.push(record);
          faults.push({ message_id: record.eventID, disposition: 'delivered again', error: describeError(error) });
        }
      }
    };
    await Promise.all(Array.from({ length: parallelSends }, work));
    addToRequestLog({ sent, failed: failed.length, ...(faults.length > 0 && { faults }) });
    writeRequestLog(failed.length > 0 ? 'ERROR' : 'INFO');
    return { batchItemFailures: failed.map(({ dynamodb }) => ({ itemIdentifier: dynamodb?.SequenceNumber ?? '' })) };
  });
}

/** Whether the change set the status. A row that has ended may change in other fields, too. */
function hasNewStatus({ dynamodb }: DynamoDBRecord): boolean {
  return dynamodb?.NewImage?.status?.S !== dynamodb?.OldImage?.status?.S;
}

function endedRowOf({ dynamodb }: DynamoDBRecord): EndedRow | undefined {
  return EndedRow.safeParse(dynamodb?.NewImage).data;
}

/** How many messages were sent. */
async function announce(row: EndedRow, webhook: string | null): Promise<number> {
  if (webhook === null || 'refusal' in readWebhook(webhook, reach)) return 0;
  const { user_id, batch_id, job, status, updated_at } = row;
  const message: WebhookMessage = {
    // The same for each record of this end, also when a record comes again.
    id: `msg_${derivedUuid([user_id, job?.id ?? batch_id, status])}`,
    webhook,
    user_id,
    batch_id,
    job,
    status,
    updated_at,
    attempts: 0,
    wait_seconds: 0,
  };
  await messages.send({ body: JSON.stringify(message), attributes: {}, groupId: derivedUuid(user_id) });
  return 1;
}

function corruptRow({ dynamodb, eventSourceARN = '' }: DynamoDBRecord) {
  const reason = 'CorruptData: The row breaks its schema.';
  return { body: JSON.stringify({ table: eventSourceARN, keys: dynamodb?.Keys }), attributes: { reason } };
}
