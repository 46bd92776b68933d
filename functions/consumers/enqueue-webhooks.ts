import type { Context, DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { messageQueue, sendMessage } from '../data/aws/message-queue.ts';
import { database } from '../data/dynamodb/db.ts';
import { getWebhooksOfBatches } from '../data/rows/webhooks-of-batches.ts';
import { otherFunctions } from '../other-functions.ts';
import { queueUrl, webhookReach } from '../runtime/env.ts';
import { countInRequestLog } from '../runtime/request-log.ts';
import { EndedRow } from '../schemas/ended-row.ts';
import type { WebhookMessage } from '../schemas/webhook-message.ts';
import { fromMilliseconds } from '../values/timestamp.ts';
import { derivedUuid } from '../values/uuid.ts';
import { readWebhook } from '../webhooks/webhook-url.ts';
import { consume } from './consume.ts';

const db = database(otherFunctions.enqueueWebhooks);
const messages = messageQueue(queueUrl('Webhooks'));
const deadLetters = messageQueue(queueUrl('Webhooks/dead_letters'));
const reach = webhookReach();

/** Messages that are sent at the same time. */
const maxParallelSends = 20;

/** A record that comes so long after its change: the batch may be gone by now. */
const lateMilliseconds = 60_000;

/**
 * Sends a message for each batch and job that got its final status, if messages can be delivered to
 * the webhook of its batch. Expects records of rows that have ended: the stream's filter passes no
 * others. A record whose message could not be sent comes again, and so do the records after it:
 * their messages are then sent again, under the same ids. A row that breaks its schema becomes a
 * dead letter.
 */
export function handler({ Records }: DynamoDBStreamEvent, context: Context): Promise<DynamoDBBatchResponse> {
  const rows = new Map(Records.filter(hasNewStatus).map((record) => [record, endedRowOf(record)]));
  const jobs = [...rows.values()].filter((row) => row !== undefined && row.job !== null) as EndedRow[];
  let webhooks: ReturnType<typeof getWebhooksOfBatches> | undefined;
  const enqueue = async (record: DynamoDBRecord) => {
    countInRequestLog({ sent: 0 });
    if (!rows.has(record)) return undefined;
    const row = rows.get(record);
    webhooks ??= getWebhooksOfBatches(db, jobs);
    if (row === undefined) await sendMessage(deadLetters, corruptRow(record));
    else {
      const webhook = 'webhook' in row ? row.webhook : (await webhooks)(row);
      countInRequestLog({ sent: await announce(row, webhook, isLate(record)) });
    }
    return undefined;
  };
  return consume(context, Records, enqueue, { parallel: maxParallelSends });
}

/** Whether the change set the status. A row that has ended may change in other fields, too. */
function hasNewStatus({ dynamodb }: DynamoDBRecord): boolean {
  return dynamodb?.NewImage?.status?.S !== dynamodb?.OldImage?.status?.S;
}

function endedRowOf({ dynamodb }: DynamoDBRecord): EndedRow | undefined {
  return EndedRow.safeParse(dynamodb?.NewImage).data;
}

function isLate({ dynamodb }: DynamoDBRecord): boolean {
  const changedAt = dynamodb?.ApproximateCreationDateTime;
  return changedAt !== undefined && db.clock.now() - 1_000 * changedAt > lateMilliseconds;
}

/** How many messages were sent. */
async function announce(row: EndedRow, webhook: string | null, late: boolean): Promise<number> {
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
    ...(late && { waiting_since: fromMilliseconds(db.clock.now()) }),
  };
  await sendMessage(messages, { body: JSON.stringify(message), attributes: {}, groupId: derivedUuid(user_id) });
  return 1;
}

function corruptRow({ dynamodb, eventSourceARN = '' }: DynamoDBRecord) {
  const reason = 'CorruptData: The row breaks its schema.';
  return { body: JSON.stringify({ table: eventSourceARN, keys: dynamodb?.Keys }), attributes: { reason } };
}
