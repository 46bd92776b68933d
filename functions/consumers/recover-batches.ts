import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { messageQueue } from '../data/aws/message-queue.ts';
import { resultsBucket } from '../data/aws/results-bucket.ts';
import { recoverBatch } from '../data/batches/recovery.ts';
import { database } from '../data/dynamodb/db.ts';
import { WritePace } from '../data/dynamodb/write-pace.ts';
import { InvalidInput } from '../errors.ts';
import { otherFunctions } from '../other-functions.ts';
import { queues } from '../queues.ts';
import { queueUrl, requiredEnv } from '../runtime/env.ts';
import { addToRequestLog } from '../runtime/request-log.ts';
import { jsonBody } from '../schemas/json-body.ts';
import { RecoveryRequest } from '../schemas/recovery-request.ts';
import { timeLimits } from '../time-limits.ts';
import { consume, type Fault, isLastDelivery, readMessage, sendOn } from './consume.ts';

const db = database(otherFunctions.recoverBatches);
const bucket = resultsBucket(requiredEnv('RESULTS_BUCKET'));
const again = messageQueue(queueUrl('Recovery'));
const deadLetters = messageQueue(queueUrl('Recovery/dead_letters'));

/** The queue itself would deliver a message again only after 12 minutes, too long for a user. */
const againSeconds = 60;
const maxHours = 12;

const RecoveryBody = jsonBody(RecoveryRequest);

/**
 * Completes changes of batches that were announced and are not complete. A message that fails is
 * sent again, to arrive a minute later. A message that cannot be read, or still fails after 12
 * hours, goes to the dead letters with the reason.
 */
export function handler({ Records }: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  return consume(context, Records, recoverOne, { parallel: 1, sentAt: firstSentAt });
}

/** When the first message was sent that this one repeats. */
function firstSentAt({ attributes, messageAttributes }: SQSRecord): string {
  return messageAttributes.sent_at?.stringValue ?? attributes.SentTimestamp;
}

async function recoverOne(record: SQSRecord): Promise<Fault | undefined> {
  const { body, messageId: message_id } = record;
  const request = readMessage(RecoveryBody, body);
  const user_id = request instanceof InvalidInput ? undefined : request.user_id;
  try {
    if (request instanceof InvalidInput) throw request;
    // No gateway waits for it.
    const pace = new WritePace(db.clock, timeLimits.recoveryPace);
    const outcome = await recoverBatch(db, bucket, request, pace);
    addToRequestLog({ user_id, batch_id: request.batch_id, outcome });
    return undefined;
  } catch (error) {
    const sent_at = firstSentAt(record);
    const isLast = isLastDelivery(record, queues.Recovery) || db.clock.now() - Number(sent_at) > maxHours * 3_600_000;
    if (!(error instanceof InvalidInput || isLast)) {
      const message = { body, attributes: { sent_at }, delaySeconds: againSeconds };
      return { user_id, disposition: await sendOn(again, message, 'put aside'), error };
    }
    const attributes = { reason: String(error), message_id };
    return { user_id, disposition: await sendOn(deadLetters, { body, attributes }, 'dead letter'), error };
  }
}
