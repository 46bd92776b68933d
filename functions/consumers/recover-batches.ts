import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { documentClient } from '../data/dynamodb/client.ts';
import { WritePace } from '../data/dynamodb/write-pace.ts';
import { messageSender } from '../data/message-sender.ts';
import { recoverBatch } from '../data/recovery.ts';
import { queueUrl, tableNames } from '../env.ts';
import { InvalidInput } from '../errors.ts';
import { queues } from '../queues.ts';
import { addToRequestLog } from '../request-log.ts';
import { jsonBody } from '../schemas/json-body.ts';
import { RecoveryRequest } from '../schemas/recovery-request.ts';
import { consume, type Fault, isLastDelivery, readMessage, sendOn } from './consume.ts';

/** No gateway waits, and of the 120 s some are for what comes before and after. */
const newPace = () => new WritePace({ secondsForAll: 90, maxSeconds: 105 });
const recover = recoverBatch(documentClient(), tableNames('Batches', 'Jobs', 'Columns', 'DeviceQueue'), { newPace });
const deadLetters = messageSender(queueUrl('Recovery/dead_letters'));

const RecoveryBody = jsonBody(RecoveryRequest);

/**
 * Completes changes of batches that were announced and did not come to their end. A message that
 * fails is delivered again. A message that cannot be read, or that fails at its last delivery, goes
 * to the dead letters with the reason.
 */
export function handler({ Records }: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  return consume(context, Records, recoverOne, { parallel: 1 });
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
    if (!(error instanceof InvalidInput || isLastDelivery(record, queues.Recovery))) {
      return { user_id, disposition: 'delivered again', error };
    }
    const attributes = { reason: String(error), message_id };
    return { user_id, disposition: await sendOn(deadLetters, { body, attributes }, 'dead letter'), error };
  }
}
