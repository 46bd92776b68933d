/**
 * Applies the lifecycle events of a queue, and decides what becomes of those that cannot be
 * applied.
 */

import { setTimeout as delay } from 'node:timers/promises';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { documentClient } from '../data/dynamodb/client.ts';
import { stopsOwner } from '../data/lifecycle/commit-changes.ts';
import { lifecycle } from '../data/lifecycle/lifecycle.ts';
import { type MessageSender, messageSender } from '../data/message-sender.ts';
import { scheduleRecovery } from '../data/recovery.ts';
import { queueUrl, tableNames } from '../env.ts';
import { InvalidInput, NotFound, ServiceError, TooBusy } from '../errors.ts';
import type { QueueDescription } from '../queues.ts';
import { addToRequestLog, describeError, withRequestLog, writeRequestLog } from '../request-log.ts';
import { inputFaults } from '../schemas/input-faults.ts';
import { jsonBody } from '../schemas/json-body.ts';
import { LifecycleEvent } from '../schemas/lifecycle-event.ts';
import { oldestAge } from './oldest-age.ts';

export interface EventConsumerOptions {
  /** The queue whose messages are consumed. */
  readonly queue: QueueDescription;
  /** Takes the events that fail for a reason of their own. Absent: they stay in the queue. */
  readonly waiting?: MessageSender;
}

interface Message {
  readonly record: SQSRecord;
  /** The event, or why the body is not one. */
  readonly event: LifecycleEvent | InvalidInput;
}

/** What becomes of a message whose event was not applied. */
type Disposition = 'dead letter' | 'put aside' | 'delivered again';

/** Owners whose events are applied at the same time. */
const parallelOwners = 8;

const EventBody = jsonBody(LifecycleEvent);

/** Kept back from the function's time to answer with what is done. */
const reservedMilliseconds = 1_500;

/** Before the first attempt at an event that was put aside: what it needs is often under way. */
const firstWaitSeconds = 10;

/**
 * A handler of the queue's messages. Owners are served side by side, the events of one owner in the
 * order of their messages.
 *
 * - An event that is applied, or was before, is done with.
 * - An event that is refused for good (bad JSON, another event under its id, a move out of a final
 *   status) goes to the dead letters with the reason.
 * - An event that fails for a reason of its own (its batch or job does not exist yet, or is
 *   corrupt) is put aside, and its owner's other events go on. Where events already wait, it is
 *   delivered again.
 * - When nothing of an owner can be written (DynamoDB throttles or fails), the owner's events are
 *   delivered again. Those of an owner that is just busy are tried again first, for half of the
 *   function's time.
 * - At its last delivery a failing message goes to the dead letters with the reason.
 *
 * In a FIFO queue an owner's messages after one that is delivered again are delivered again too, so
 * that SQS keeps their order. Those of them that were applied change nothing then.
 */
export function eventConsumer({ queue, waiting }: EventConsumerOptions) {
  const { applyEvents } = lifecycle(documentClient(), tableNames('Batches', 'Jobs', 'Columns', 'DeviceQueue'), {
    beforeMultiTransaction: scheduleRecovery(messageSender(queueUrl('Recovery'))),
  });
  const deadLetters = messageSender(queueUrl('Events/dead_letters'));

  return ({ Records }: SQSEvent, context: Context): Promise<SQSBatchResponse> =>
    withRequestLog({ request_id: context.awsRequestId, messages: Records.length }, async () => {
      const timeLeft = () => context.getRemainingTimeInMillis() - reservedMilliseconds;
      const half = timeLeft() / 2;
      const done = new Set<SQSRecord>();
      const faults: Record<string, unknown>[] = [];
      let level: 'INFO' | 'ERROR' = 'INFO';
      const handleOwner = async (messages: readonly Message[]) => {
        const outcomes = await apply(messages, () => timeLeft() > half);
        for (const [at, message] of messages.entries()) {
          const fault = outcomes[at];
          const disposition = fault && (await dispose(message, fault));
          if (fault !== undefined) {
            faults.push({
              message_id: message.record.messageId,
              ...(!(message.event instanceof InvalidInput) && { user_id: message.event.user_id }),
              disposition,
              error: describeError(fault),
            });
            // That an event waits for its batch is nothing wrong.
            if (!(fault instanceof NotFound) || disposition === 'dead letter') level = 'ERROR';
          }
          if (disposition !== 'delivered again') done.add(message.record);
          else if (queue.fifo) break;
        }
      };
      const owners = messagesByOwner(Records);
      const work = async () => {
        for (let owner = owners.shift(); owner !== undefined && timeLeft() > 0; owner = owners.shift()) {
          await handleOwner(owner);
        }
      };
      await Promise.race([
        Promise.all(Array.from({ length: parallelOwners }, work)),
        delay(Math.max(timeLeft(), 0), undefined, { ref: false }),
      ]);
      const failed = Records.filter((record) => !done.has(record));
      addToRequestLog({
        failed: failed.length,
        EventAge: oldestAge(Records.map((record) => originOf(record).sent_at)),
        ...(faults.length > 0 && { faults }),
      });
      writeRequestLog(level);
      return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
    });

  /** What keeps each of an owner's messages from being applied, if anything does. */
  async function apply(messages: readonly Message[], mayRepeat: () => boolean): Promise<(Error | undefined)[]> {
    const outcomes = await applyOnce(messages);
    for (;;) {
      const stopped = outcomes.findIndex((outcome) => outcome instanceof TooBusy);
      if (stopped < 0 || !mayRepeat()) break;
      outcomes.splice(stopped, Number.POSITIVE_INFINITY, ...(await applyOnce(messages.slice(stopped))));
    }
    if (outcomes.some((outcome) => outcome !== undefined && stopsOwner(outcome))) return outcomes;
    // What an event needs may have come after it, in the same call.
    const missing = [...outcomes.keys()].filter((at) => outcomes[at] instanceof NotFound);
    if (missing.length === 0 || missing.length === messages.length) return outcomes;
    const retried = await applyOnce(missing.map((at) => messages[at]!));
    for (const [place, at] of missing.entries()) outcomes[at] = retried[place];
    return outcomes;
  }

  async function applyOnce(messages: readonly Message[]): Promise<(Error | undefined)[]> {
    const [first] = messages;
    if (first?.event instanceof InvalidInput) return [first.event];
    try {
      return await applyEvents(messages.map(({ event }) => event as LifecycleEvent));
    } catch (error) {
      return messages.map(() => (error instanceof Error ? error : new Error(String(error))));
    }
  }

  /** Sends a message whose event was not applied to where it belongs. Returns what became of it. */
  async function dispose({ record, event }: Message, fault: Error): Promise<Disposition> {
    const isLast = Number(record.attributes.ApproximateReceiveCount) >= queue.maximumDeliveries;
    const mayWait = waiting !== undefined && !stopsOwner(fault);
    const { message_id, group_id, sent_at } = originOf(record);
    try {
      if (isRefused(fault) || (isLast && !mayWait)) {
        await deadLetters.send({
          body: record.body,
          attributes: {
            reason: `${fault.name}: ${fault.message}`,
            event_id: event instanceof InvalidInput ? '' : event.id,
            message_id,
          },
          fifo: { groupId: group_id, deduplicationId: record.messageId },
        });
        return 'dead letter';
      }
      if (mayWait) {
        const attributes = { message_id, group_id, sent_at };
        await waiting.send({ body: record.body, attributes, delaySeconds: firstWaitSeconds });
        return 'put aside';
      }
    } catch (error) {
      addToRequestLog({ send_fault: describeError(error) });
    }
    return 'delivered again';
  }
}

/**
 * One list for each owner, in the order of the messages. A message without a readable event stands
 * alone.
 */
function messagesByOwner(records: readonly SQSRecord[]): Message[][] {
  const messages = records.map((record): Message => ({ record, event: readEvent(record.body) }));
  const owners = Map.groupBy(messages, ({ record, event }) =>
    event instanceof InvalidInput ? `message ${record.messageId}` : `user ${event.user_id}`,
  );
  return [...owners.values()];
}

function readEvent(body: string): LifecycleEvent | InvalidInput {
  const parsed = EventBody.safeParse(body);
  return parsed.success ? parsed.data : new InvalidInput(inputFaults('body', parsed.error));
}

/** The message as its sender sent it: a message that was put aside carries this with it. */
function originOf({ messageId, attributes, messageAttributes }: SQSRecord) {
  const readCarried = (name: string) => messageAttributes[name]?.stringValue;
  return {
    message_id: readCarried('message_id') ?? messageId,
    group_id: readCarried('group_id') ?? attributes.MessageGroupId ?? messageId,
    sent_at: readCarried('sent_at') ?? attributes.SentTimestamp,
  };
}

/**
 * What the service refuses on purpose stays refused. But what is missing may come, and what is busy
 * may pass.
 */
function isRefused(fault: Error): boolean {
  return (
    fault instanceof ServiceError && fault.status < 500 && !(fault instanceof NotFound) && !(fault instanceof TooBusy)
  );
}
