import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { messageSender } from '../data/aws/message-sender.ts';
import { eraseResults } from '../data/batches/erase-results.ts';
import { finishErasure } from '../data/batches/erasures.ts';
import { recoverBatch } from '../data/batches/recovery.ts';
import { documentClient } from '../data/dynamodb/client.ts';
import { WritePace } from '../data/dynamodb/write-pace.ts';
import { InvalidInput } from '../errors.ts';
import { queues } from '../queues.ts';
import { queueUrl, requiredEnv, tableNames } from '../runtime/env.ts';
import { addToRequestLog } from '../runtime/request-log.ts';
import { jsonBody } from '../schemas/json-body.ts';
import { RecoveryRequest } from '../schemas/recovery-request.ts';
import { consume, type Fault, isLastDelivery, readMessage, sendOn } from './consume.ts';

/** No gateway waits, and of the 120 s some are for what comes before and after. */
const newPace = () => new WritePace({ secondsForAll: 90, maxSeconds: 105 });
const [client, tables] = [
  documentClient(),
  tableNames('Batches', 'Jobs', 'Columns', 'Sequences', 'DeviceQueue', 'Usage', 'Counters'),
];
const recover = recoverBatch(client, tables, {
  newPace,
  finishErasure: finishErasure(client, tables, { newPace, eraseResults: eraseResults(requiredEnv('RESULTS_BUCKET')) }),
});
const again = messageSender(queueUrl('Recovery'));
const deadLetters = messageSender(queueUrl('Recovery/dead_letters'));

/** The queue itself would deliver a message again after 12 minutes: no user waits for so long. */
const againSeconds = 60;
const maxHours = 12;

const RecoveryBody = jsonBody(RecoveryRequest);

/**
 * Completes changes of batches that were announced and did not come to their end. A message that
 * fails is sent again, to arrive a minute later. A message that cannot be read, or still fails
 * after 12 hours, goes to the dead letters with the reason.
 */
export function handler({ Records }: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  return consume(context, Records, recoverOne, { parallel: 1, sentAt: firstSentAt });
}

/** When the message was sent that this one repeats. */
function firstSentAt({ attributes, messageAttributes }: SQSRecord): string {
  return messageAttributes.sent_at?.stringValue ?? attributes.SentTimestamp;
}

async function recoverOne(record: SQSRecord): Promise<Fault | undefined> {
  const { body, messageId: message_id } = record;
  const request = readMessage(RecoveryBody, body);
  const user_id = request instanceof InvalidInput ? undefined : request.user_id;
  try {
    if (request instanceof InvalidInput) throw request;
    addToRequestLog({ user_id, batch_id: request.batch_id, outcome: await recover(request) });
    return undefined;
  } catch (error) {
    const sent_at = firstSentAt(record);
    const isLast = isLastDelivery(record, queues.Recovery) || Date.now() - Number(sent_at) > maxHours * 3_600_000;
    if (!(error instanceof InvalidInput || isLast)) {
      const message = { body, attributes: { sent_at }, delaySeconds: againSeconds };
      return { user_id, disposition: await sendOn(again, message, 'put aside'), error };
    }
    const attributes = { reason: String(error), message_id };
    return { user_id, disposition: await sendOn(deadLetters, { body, attributes }, 'dead letter'), error };
  }
}
