import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { documentClient } from '../data/dynamodb/client.ts';
import { messageSender } from '../data/message-sender.ts';
import { recoverBatch } from '../data/recovery.ts';
import { queueUrl, tableNames } from '../env.ts';
import { InvalidInput } from '../errors.ts';
import { queues } from '../queues.ts';
import { addToRequestLog, describeError, withRequestLog, writeRequestLog } from '../request-log.ts';
import { inputFaults } from '../schemas/input-faults.ts';
import { jsonBody } from '../schemas/json-body.ts';
import { RecoveryRequest } from '../schemas/recovery-request.ts';
import { oldestAge } from './oldest-age.ts';

const finish = recoverBatch(documentClient(), tableNames('Batches', 'Jobs', 'Columns', 'DeviceQueue'));
const deadLetters = messageSender(queueUrl('Recovery/dead_letters'));

const RecoveryBody = jsonBody(RecoveryRequest);

/**
 * Finishes what was announced and did not come to its end. A message that fails is delivered again;
 * one that cannot be read, or that fails at its last delivery, goes to the dead letters with the
 * reason.
 */
export function handler({ Records }: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  return withRequestLog({ request_id: context.awsRequestId, messages: Records.length }, async () => {
    const failed: SQSRecord[] = [];
    const faults: Record<string, unknown>[] = [];
    for (const record of Records) {
      const unfinished = readMessage(record.body);
      const user_id = unfinished instanceof InvalidInput ? undefined : unfinished.user_id;
      try {
        if (unfinished instanceof InvalidInput) throw unfinished;
        addToRequestLog({ user_id, batch_id: unfinished.batch_id, outcome: await finish(unfinished) });
      } catch (error) {
        const disposition = await dispose(record, error instanceof Error ? error : new Error(String(error)));
        if (disposition === 'delivered again') failed.push(record);
        faults.push({ message_id: record.messageId, user_id, disposition, error: describeError(error) });
      }
    }
    const sentTimes = Records.map(({ attributes }) => attributes.SentTimestamp);
    addToRequestLog({ failed: failed.length, EventAge: oldestAge(sentTimes), ...(faults.length > 0 && { faults }) });
    writeRequestLog(faults.length > 0 ? 'ERROR' : 'INFO');
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  });
}

function readMessage(body: string): RecoveryRequest | InvalidInput {
  const parsed = RecoveryBody.safeParse(body);
  return parsed.success ? parsed.data : new InvalidInput(inputFaults('body', parsed.error));
}

/** Sends a message that failed for good to the dead letters. Returns what becomes of it. */
async function dispose({ body, messageId, attributes }: SQSRecord, fault: Error) {
  const isLast = Number(attributes.ApproximateReceiveCount) >= queues.Recovery.maximumDeliveries;
  if (!isLast && !(fault instanceof InvalidInput)) return 'delivered again';
  try {
    const reason = `${fault.name}: ${fault.message}`;
    await deadLetters.send({ body, attributes: { reason, message_id: messageId } });
    return 'dead letter';
  } catch (error) {
    addToRequestLog({ send_fault: describeError(error) });
    return 'delivered again';
  }
}
