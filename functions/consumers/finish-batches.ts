import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { documentClient } from '../data/dynamodb/client.ts';
import { finishBatch } from '../data/unfinished-batches.ts';
import { tableNames } from '../env.ts';
import { addToRequestLog, describeError, withRequestLog, writeRequestLog } from '../request-log.ts';
import { UnfinishedBatch } from '../schemas/unfinished-batch.ts';
import { oldestAge } from './oldest-age.ts';

const finish = finishBatch(documentClient(), tableNames('Batches', 'Jobs', 'Columns'));

/** Cancels batches whose creation or cancellation did not come to its end. A message that fails is delivered again. */
export function handler({ Records }: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  return withRequestLog({ request_id: context.awsRequestId, messages: Records.length }, async () => {
    const failed: SQSRecord[] = [];
    const faults: Record<string, unknown>[] = [];
    for (const record of Records) {
      try {
        const { user_id, batch_id } = UnfinishedBatch.parse(JSON.parse(record.body));
        addToRequestLog({ user_id, batch_id, outcome: await finish(user_id, batch_id) });
      } catch (error) {
        failed.push(record);
        faults.push({ message_id: record.messageId, disposition: 'delivered again', error: describeError(error) });
      }
    }
    const sentTimes = Records.map(({ attributes }) => attributes.SentTimestamp);
    addToRequestLog({ failed: failed.length, EventAge: oldestAge(sentTimes), ...(faults.length > 0 && { faults }) });
    writeRequestLog(failed.length > 0 ? 'ERROR' : 'INFO');
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  });
}
