/**
 * Applies the lifecycle events of a queue, and decides what becomes of events that cannot be
 * applied.
 */

import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { bucketObjects, type CallObject } from '../data/aws/bucket-objects.ts';
import { type MessageQueue, messageQueue } from '../data/aws/message-queue.ts';
import { countShots } from '../data/leases/count-shots.ts';
import { applyEvents } from '../data/lifecycle/apply-events.ts';
import { stopsOwner } from '../data/lifecycle/commit-changes.ts';
import type { LifecycleDb } from '../data/lifecycle/lifecycle-db.ts';
import { recoveryByQueue, type ScheduleRecovery } from '../data/lifecycle/schedule-recovery.ts';
import { InvalidInput, NotFound, ServiceError, TooBusy } from '../errors.ts';
import type { QueueDescription } from '../queues.ts';
import { queueUrl, requiredEnv } from '../runtime/env.ts';
import { jsonBody } from '../schemas/json-body.ts';
import { LifecycleEvent } from '../schemas/lifecycle-event.ts';
import { timeLimits } from '../time-limits.ts';
import { consume, type Disposition, type Fault, isLastDelivery, readMessage, sendOn } from './consume.ts';

interface EventConsumer {
  readonly db: LifecycleDb;
  /** The queue whose messages are consumed. */
  readonly queue: QueueDescription;
  /** Takes the events that fail for a reason of their own. Undefined: they stay in the queue. */
  readonly waiting: MessageQueue | undefined;
  readonly deadLetters: MessageQueue;
  readonly callObject: CallObject;
  readonly scheduleRecovery: ScheduleRecovery;
}

/** The consumer of a queue of events, by the function's environment. */
export function eventConsumer(db: LifecycleDb, queue: QueueDescription, waiting?: MessageQueue): EventConsumer {
  return {
    db,
    queue,
    waiting,
    deadLetters: messageQueue(queueUrl('Events/dead_letters')),
    callObject: bucketObjects(requiredEnv('RESULTS_BUCKET')),
    scheduleRecovery: recoveryByQueue(),
  };
}

/** An event, or why the message holds none. */
type Readable = LifecycleEvent | InvalidInput;

/** Owners whose events are applied at the same time. */
const parallelOwners = 8;

const EventBody = jsonBody(LifecycleEvent);

/** The wait before an event that was put aside is first tried: what it needs is often under way. */
const firstWaitSeconds = 10;

/** The messages of one call. */
interface Delivery {
  readonly events: ReadonlyMap<SQSRecord, Readable>;
  /** Outcomes of messages whose owners have had their turn. */
  readonly outcomes: Map<SQSRecord, Error | undefined>;
  /** Whether there is time to repeat what a busy owner has stopped. */
  readonly mayRepeat: () => boolean;
}

/**
 * Handles the queue's messages. Owners are served side by side, the events of one owner in the
 * order of their messages.
 *
 * - An event that is applied, or was before, is done with.
 * - An event that is refused for good (bad JSON, another event under its id, a move out of a final
 *   status) goes to the dead letters with the reason.
 * - An event that fails for a reason of its own (its batch or job does not exist yet, or is
 *   corrupt) is put aside, and its owner's other events go on. Where events already wait, it is
 *   delivered again.
 * - When nothing of an owner can be written (DynamoDB throttles or fails), the owner's events are
 *   delivered again. If the owner is just busy, they are tried again first, for half of the
 *   function's time.
 * - At its last delivery a failing message goes to the dead letters with the reason.
 *
 * In a FIFO queue an owner's messages after one that is delivered again are delivered again too, so
 * that SQS keeps their order. An event that was applied changes nothing then.
 */
export function consumeEvents(
  consumer: EventConsumer,
  { Records }: SQSEvent,
  context: Context,
): Promise<SQSBatchResponse> {
  const timeLeft = () => context.getRemainingTimeInMillis() - 1_000 * timeLimits.toHandBackEvents;
  const half = timeLeft() / 2;
  const events = new Map(Records.map((record) => [record, readMessage(EventBody, record.body)]));
  const delivery: Delivery = { events, outcomes: new Map(), mayRepeat: () => timeLeft() > half };
  return consume(context, Records, (...records) => handleEvent(consumer, delivery, ...records), {
    parallel: parallelOwners,
    groupOf(record) {
      const event = events.get(record)!;
      return event instanceof InvalidInput ? `message ${record.messageId}` : `user ${event.user_id}`;
    },
    keepsOrder: consumer.queue.fifo,
    sentAt: (record) => originOf(record).sent_at,
    timeLeft,
  });
}

/** The events of an owner are applied together, when the first of them has its turn. */
async function handleEvent(
  consumer: EventConsumer,
  { events, outcomes, mayRepeat }: Delivery,
  record: SQSRecord,
  ofOwner: readonly SQSRecord[],
): Promise<Fault | undefined> {
  if (!outcomes.has(record)) {
    const owned = ofOwner.map((each) => events.get(each)!);
    const applied = await apply(consumer, owned, mayRepeat);
    for (const [at, each] of ofOwner.entries()) outcomes.set(each, applied[at]);
  }
  const error = outcomes.get(record);
  if (error === undefined) return undefined;
  const event = events.get(record)!;
  const disposition = await dispose(consumer, record, event, error);
  // An event may come before its batch or job does.
  const isExpected = error instanceof NotFound && disposition !== 'dead letter';
  return { ...(!(event instanceof InvalidInput) && { user_id: event.user_id }), disposition, error, isExpected };
}

/** For each of an owner's events, the error that keeps it from being applied, if any. */
async function apply(
  consumer: EventConsumer,
  events: readonly Readable[],
  mayRepeat: () => boolean,
): Promise<(Error | undefined)[]> {
  const outcomes = await applyOnce(consumer, events);
  for (;;) {
    const stopped = outcomes.findIndex((outcome) => outcome instanceof TooBusy);
    if (stopped < 0 || !mayRepeat()) break;
    outcomes.splice(stopped, Number.POSITIVE_INFINITY, ...(await applyOnce(consumer, events.slice(stopped))));
  }
  if (outcomes.some((outcome) => outcome !== undefined && stopsOwner(outcome))) return outcomes;
  // What an event needs may have come after it, in the same call.
  const missing = [...outcomes.keys()].filter((at) => outcomes[at] instanceof NotFound);
  if (missing.length === 0 || missing.length === events.length) return outcomes;
  const retried = await applyOnce(
    consumer,
    missing.map((at) => events[at]!),
  );
  for (const [place, at] of missing.entries()) outcomes[at] = retried[place];
  return outcomes;
}

async function applyOnce(
  { db, callObject, scheduleRecovery }: EventConsumer,
  events: readonly Readable[],
): Promise<(Error | undefined)[]> {
  const [first] = events;
  if (first instanceof InvalidInput) return [first];
  const shotsOf = (userId: string, key: string) => countShots(callObject, userId, key);
  try {
    return await applyEvents(db, events as readonly LifecycleEvent[], { scheduleRecovery, shotsOf });
  } catch (error) {
    return events.map(() => (error instanceof Error ? error : new Error(String(error))));
  }
}

/** Sends a message whose event was not applied to where it belongs. */
async function dispose(
  { queue, waiting, deadLetters }: EventConsumer,
  record: SQSRecord,
  event: Readable,
  fault: Error,
): Promise<Disposition> {
  const mayWait = waiting !== undefined && !stopsOwner(fault);
  const { body, messageId } = record;
  const { message_id, group_id, sent_at } = originOf(record);
  if (isRefused(fault) || (isLastDelivery(record, queue) && !mayWait)) {
    const event_id = event instanceof InvalidInput ? '' : event.id;
    const attributes = { reason: `${fault.name}: ${fault.message}`, event_id, message_id };
    const fifo = { groupId: group_id, deduplicationId: messageId };
    return sendOn(deadLetters, { body, attributes, fifo }, 'dead letter');
  }
  if (!mayWait) return 'delivered again';
  const attributes = { message_id, group_id, sent_at };
  return sendOn(waiting, { body, attributes, delaySeconds: firstWaitSeconds }, 'put aside');
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
 * What the service refuses on purpose stays refused. But missing rows may come, and a busy owner
 * may become free.
 */
function isRefused(fault: Error): boolean {
  return (
    fault instanceof ServiceError && fault.status < 500 && !(fault instanceof NotFound) && !(fault instanceof TooBusy)
  );
}
