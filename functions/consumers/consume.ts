/** What all consumers of queues and streams share. */

import { setTimeout as delay } from 'node:timers/promises';
import type { Context, DynamoDBRecord, SQSBatchResponse, SQSRecord } from 'aws-lambda';
import type * as z from 'zod/mini';
import { type MessageQueue, type OutgoingMessage, sendMessage } from '../data/aws/message-queue.ts';
import { InvalidInput } from '../errors.ts';
import { addToRequestLog, describeError, withRequestLog, writeRequestLog } from '../runtime/request-log.ts';
import { inputFaults } from '../schemas/input-faults.ts';

export type Disposition = 'dead letter' | 'put aside' | 'passed over' | 'delivered again';

/** Why a record was not handled, and what becomes of it. */
export interface Fault {
  readonly error: unknown;
  readonly disposition: Disposition;
  readonly user_id?: string | undefined;
  /** Nothing is wrong: the line in the log stays INFO. */
  readonly isExpected?: boolean;
}

interface ConsumerOptions<Delivered> {
  /** Groups that are handled at the same time. Default: all. */
  readonly parallel?: number;
  /** Records of the same group are handled in their order. Default: each is a group. */
  readonly groupOf?: (record: Delivered) => string;
  /** After a record that is delivered again, the rest of its group is delivered again, too. */
  readonly keepsOrder?: boolean;
  /** When a message was first sent, in milliseconds since 1970. Default: as its queue says. */
  readonly sentAt?: (record: Delivered) => string | undefined;
  /** Milliseconds left. When there are none, the rest is delivered again. Default: no limit. */
  readonly timeLeft?: () => number;
}

/**
 * Handles the records of one call, writes one line to the log and returns the records that are to
 * be delivered again. `handle` returns why a record was not handled, or undefined; `group` is the
 * record and the others of its group. If it throws, the record is delivered again.
 *
 * Alarms and saved queries read the line: `messages`, `failed` (how many are delivered again),
 * `EventAge` (seconds since the oldest message was sent) and `faults`. Its level is ERROR when a
 * fault is unexpected.
 */
export function consume<Delivered extends SQSRecord | DynamoDBRecord>(
  { awsRequestId }: Context,
  records: readonly Delivered[],
  handle: (record: Delivered, group: readonly Delivered[]) => Promise<Fault | undefined>,
  { parallel = records.length, groupOf, keepsOrder, sentAt = sentTime, timeLeft }: ConsumerOptions<Delivered> = {},
): Promise<SQSBatchResponse> {
  const left = new Set(records);
  const faults: object[] = [];
  let level: 'INFO' | 'ERROR' = 'INFO';
  const handleGroup = async (group: readonly Delivered[]) => {
    for (const record of group) {
      const fault = await handle(record, group).catch(deliverAgain);
      if (fault !== undefined) {
        const { error, isExpected, ...facts } = fault;
        faults.push({ message_id: idsOf(record).logged, ...facts, error: describeError(error) });
        if (!isExpected) level = 'ERROR';
      }
      if (fault?.disposition !== 'delivered again') left.delete(record);
      else if (keepsOrder) return;
    }
  };
  return withRequestLog({ request_id: awsRequestId, messages: records.length }, async () => {
    const groups =
      groupOf === undefined ? records.map((record) => [record]) : [...Map.groupBy(records, groupOf).values()];
    const work = async () => {
      while (groups.length > 0 && (timeLeft === undefined || timeLeft() > 0)) await handleGroup(groups.shift()!);
    };
    const all = Promise.all(Array.from({ length: parallel }, work));
    await (timeLeft === undefined
      ? all
      : Promise.race([all, delay(Math.max(timeLeft(), 0), undefined, { ref: false })]));
    const sentTimes = records.flatMap((record) => sentAt(record) ?? []).map(Number);
    addToRequestLog({
      failed: left.size,
      ...(sentTimes.length > 0 && { EventAge: Math.max(0, Math.round((Date.now() - Math.min(...sentTimes)) / 1000)) }),
      ...(faults.length > 0 && { faults }),
    });
    writeRequestLog(level);
    return { batchItemFailures: [...left].map((record) => ({ itemIdentifier: idsOf(record).answered })) };
  });
}

function deliverAgain(error: unknown): Fault {
  return { disposition: 'delivered again', error };
}

function sentTime(record: SQSRecord | DynamoDBRecord): string | undefined {
  return 'attributes' in record ? record.attributes.SentTimestamp : undefined;
}

/** What names a record in the log, and in the answer to Lambda. */
function idsOf(record: SQSRecord | DynamoDBRecord) {
  if ('messageId' in record) return { logged: record.messageId, answered: record.messageId };
  return { logged: record.eventID, answered: record.dynamodb?.SequenceNumber ?? '' };
}

/** The content of a message, or what is wrong with it. */
export function readMessage<Content>(schema: z.ZodMiniType<Content>, body: string): Content | InvalidInput {
  const { data, error } = schema.safeParse(body);
  return error === undefined ? data : new InvalidInput(inputFaults('body', error));
}

/**
 * Whether a failure now makes the queue itself move the message to its dead letters, without a
 * reason.
 */
export function isLastDelivery({ attributes }: SQSRecord, { maxDeliveries }: { readonly maxDeliveries: number }) {
  return Number(attributes.ApproximateReceiveCount) >= maxDeliveries;
}

/** Sends a message on. If that fails, the log says why, and the message is delivered again. */
export async function sendOn(
  to: MessageQueue,
  message: OutgoingMessage,
  disposition: Disposition,
): Promise<Disposition> {
  try {
    await sendMessage(to, message);
    return disposition;
  } catch (error) {
    addToRequestLog({ send_fault: describeError(error) });
    return 'delivered again';
  }
}
