import { setTimeout as delay } from 'node:timers/promises';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { deadLetters } from '../data/dead-letters.ts';
import { documentClient } from '../data/dynamodb/client.ts';
import { lifecycle } from '../data/lifecycle/lifecycle.ts';
import { queueUrl, tableNames } from '../env.ts';
import { InvalidInput, NotFound, ServiceError, TooBusy } from '../errors.ts';
import { queues } from '../queues.ts';
import { addToRequestLog, describeError, withRequestLog, writeRequestLog } from '../request-log.ts';
import { inputFaults } from '../schemas/input-faults.ts';
import { jsonBody } from '../schemas/json-body.ts';
import { LifecycleEvent } from '../schemas/lifecycle-event.ts';

const changes = lifecycle(documentClient(), tableNames('Batches', 'Jobs', 'Columns'));
const graves = deadLetters(queueUrl('Events/dead_letters'));

/** Owners whose events are applied at the same time. */
const parallelOwners = 8;

const EventBody = jsonBody(LifecycleEvent);

/** Kept back from the function's time to answer with what is done. */
const reservedMilliseconds = 1_500;

interface Message {
  readonly record: SQSRecord;
  /** Or why its body is none. */
  readonly event: LifecycleEvent | InvalidInput;
}

/**
 * Settles each message of the queue by itself: its event is applied; or, where that can never be, sent to the dead-letter queue
 * with the reason; or it is reported as failed and delivered again: when what it speaks of does not exist yet, or DynamoDB or time
 * fails it. At its last delivery a failing message, too, goes to the dead-letter queue with the reason. Owners are served side by
 * side, one owner's events one after the other in the order of their times, since they change the same items.
 */
export function handler({ Records }: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  return withRequestLog({ request_id: context.awsRequestId, messages: Records.length }, async () => {
    const settled = new Set<string>();
    const faults: Record<string, unknown>[] = [];
    const timeLeft = () => context.getRemainingTimeInMillis() - reservedMilliseconds;
    const settle = async (message: Message, fault: Error | undefined) => {
      const { messageId } = message.record;
      const buried = fault !== undefined && mustBury(message.record, fault) && (await bury(message, fault));
      if (fault === undefined || buried) settled.add(messageId);
      if (fault !== undefined) faults.push({ message_id: messageId, buried, error: describeError(fault) });
    };
    const owners = messagesByOwner(Records);
    const work = async () => {
      for (let owner = owners.pop(); owner !== undefined && timeLeft() > 0; owner = owners.pop()) {
        const outcomes = await apply(owner);
        await Promise.all(owner.map((message, at) => settle(message, outcomes[at])));
      }
    };
    await Promise.race([
      Promise.all(Array.from({ length: parallelOwners }, work)),
      delay(Math.max(timeLeft(), 0), undefined, { ref: false }),
    ]);
    const failed = Records.filter(({ messageId }) => !settled.has(messageId));
    addToRequestLog({ failed: failed.length, ...(faults.length > 0 && { faults }) });
    writeRequestLog(faults.length > 0 ? 'ERROR' : 'INFO');
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  });
}

/** One list for each owner, in the order of the events' times, else of their arrival; a message without a readable event stands alone. */
function messagesByOwner(records: readonly SQSRecord[]): Message[][] {
  const messages = records.map((record): Message => ({ record, event: readEvent(record.body) }));
  const owners = Map.groupBy(messages, ({ record, event }) =>
    event instanceof InvalidInput ? `message ${record.messageId}` : `user ${event.user_id}`,
  );
  return Array.from(owners.values(), (ofOwner) =>
    ofOwner.toSorted((a, b) => Number(timeOf(a) > timeOf(b)) - Number(timeOf(a) < timeOf(b))),
  );
}

function timeOf({ event }: Message): string {
  return event instanceof InvalidInput ? '' : event.time;
}

function readEvent(body: string): LifecycleEvent | InvalidInput {
  const parsed = EventBody.safeParse(body);
  return parsed.success ? parsed.data : new InvalidInput(inputFaults('body', parsed.error));
}

/** What keeps each message from being applied, if anything does. */
async function apply(messages: readonly Message[]): Promise<(Error | undefined)[]> {
  const [first] = messages;
  if (first?.event instanceof InvalidInput) return [first.event];
  try {
    return await changes.applyEvents(messages.map(({ event }) => event as LifecycleEvent));
  } catch (error) {
    return messages.map(() => (error instanceof Error ? error : new Error(String(error))));
  }
}

/** What the service refuses on purpose stays refused; but what is missing may come, and what was busy may pass. */
function mustBury(record: SQSRecord, fault: Error): boolean {
  if (Number(record.attributes.ApproximateReceiveCount) >= queues.Events.maximumDeliveries) return true;
  return (
    fault instanceof ServiceError && fault.status < 500 && !(fault instanceof NotFound) && !(fault instanceof TooBusy)
  );
}

/** Whether the dead-letter queue took the message. */
async function bury({ record, event }: Message, fault: Error): Promise<boolean> {
  try {
    await graves.send(record.body, {
      reason: `${fault.name}: ${fault.message}`,
      event_id: event instanceof InvalidInput ? '' : event.id,
      message_id: record.messageId,
    });
    return true;
  } catch (error) {
    addToRequestLog({ dead_letter_fault: describeError(error) });
    return false;
  }
}
