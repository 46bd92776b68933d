import { randomUUID } from 'node:crypto';
import { Refusal } from '../refusal.ts';
import type { QueueDefinition } from '../template/deployment.ts';
import type { MessageFiles, StoredMessage } from './message-files.ts';

/** What a sender gives. */
export interface NewMessage {
  readonly body: string;
  /** Message attributes of type String. */
  readonly attributes?: Readonly<Record<string, string>>;
  /**
   * Required by FIFO queues: messages of a group are received in the order in which they were sent.
   */
  readonly groupId?: string;
  /** A FIFO queue keeps only the first message of a group and of five minutes that has it. */
  readonly deduplicationId?: string;
  /** Milliseconds that the message is hidden at first. Standard queues only. */
  readonly delay?: number;
}

/**
 * A message in a queue: group, deduplication id and sequence number are set in FIFO queues only.
 */
export interface Message extends Omit<StoredMessage, 'visibleAt'> {
  firstReceivedAt?: number;
  receiveCount: number;
  /** Why its last delivery failed, where that is known. */
  failure?: string;
  /** Fulfilled when its first delivery is over. */
  readonly tried: PromiseWithResolvers<void>;
  /** Fulfilled when it has left the queue. */
  readonly settled: PromiseWithResolvers<'deleted' | 'redriven'>;
}

/** A queue as SQS has them: what is received stays hidden until it is deleted or released. */
export interface Queue {
  readonly definition: QueueDefinition;
  /**
   * The message, or the one of its group with the same deduplication id that was sent within the
   * last five minutes. Throws Refusal for what SQS refuses.
   */
  send(message: NewMessage): Message;
  /**
   * Up to `maxMessages` visible messages, the oldest first. They are hidden from now on.
   * - A FIFO queue gives nothing of a group while one of its messages is hidden.
   * - A message that was received as often as the redrive policy allows goes to the dead-letter
   *   queue instead.
   */
  receive(maxMessages: number): Message[];
  delete(message: Message): void;
  /** Ends a delivery: the message is visible again after so many milliseconds. */
  release(message: Message, delay: number): void;
  /** All of its messages, hidden ones too. */
  messages(): readonly Message[];
  /** Calls the listener whenever messages have become visible. */
  onVisible(listener: () => void): void;
  /** Takes over a message that another queue gave up. */
  takeOver(message: Message): void;
}

/** SQS's limit of body and attributes together: 1 MiB. */
export const maxMessageBytes = 1_048_576;

const deduplicationMilliseconds = 5 * 60_000;

/**
 * Messages that are received one batch at a time. In a standard queue every message is a group of
 * its own.
 */
interface Group {
  readonly messages: Message[];
  hidden: number;
}

/**
 * A queue; `deadLetters` finds the queue that its redrive policy names. It is empty at first, or
 * holds what `files` hold.
 */
export function createQueue(
  definition: QueueDefinition,
  deadLetters: () => Queue | undefined,
  files?: MessageFiles,
): Queue {
  const maxReceives = definition.redrive?.maxReceiveCount ?? Number.POSITIVE_INFINITY;
  const groups = new Map<string, Group>();
  const recentlySent = new Map<string, Message>();
  const listeners: (() => void)[] = [];
  let lastSequenceNumber = 0n;
  for (const message of files?.read() ?? []) restore(message);

  return {
    definition,
    send,
    receive,
    delete: remove,
    release,
    takeOver: (message) => void accept(message),
    messages: () => [...groups.values()].flatMap((group) => group.messages),
    onVisible: (listener) => void listeners.push(listener),
  };

  function send({ body, attributes = {}, groupId, deduplicationId, delay = 0 }: NewMessage): Message {
    requireAllowedSize(body, attributes);
    const message = { ...neverReceived(), messageId: randomUUID(), body, attributes, sentAt: Date.now() };
    if (!definition.fifo) return accept(message, delay);
    if (delay > 0) throw new Refusal('InvalidParameterValue', 'A FIFO queue takes no DelaySeconds of a message.');
    const ids = fifoIds(groupId, deduplicationId);
    const key = JSON.stringify(ids);
    forgetOldDeduplicationIds();
    const known = recentlySent.get(key);
    if (known !== undefined) return known;
    lastSequenceNumber += 1n;
    const inOrder = { ...message, ...ids, sequenceNumber: String(lastSequenceNumber).padStart(20, '0') };
    recentlySent.set(key, inOrder);
    return accept(inOrder);
  }

  /** When it returns, the message outlives this process where there are files. */
  function accept(message: Message, delay = 0): Message {
    const { messageId, body, attributes, groupId, deduplicationId, sequenceNumber, sentAt } = message;
    const visibleAt = Date.now() + delay;
    files?.write({ messageId, body, attributes, groupId, deduplicationId, sequenceNumber, sentAt, visibleAt });
    add(message, delay);
    return message;
  }

  /** A message of an earlier process: its consumer is gone. */
  function restore({ visibleAt, ...stored }: StoredMessage) {
    add({ ...stored, ...neverReceived() }, visibleAt - Date.now());
    const number = BigInt(stored.sequenceNumber ?? 0);
    if (number > lastSequenceNumber) lastSequenceNumber = number;
  }

  function receive(maxMessages: number): Message[] {
    const received: Message[] = [];
    for (const [name, group] of groups) {
      if (received.length === maxMessages) break;
      if (group.hidden > 0) continue;
      while (group.messages[0] !== undefined && group.messages[0].receiveCount >= maxReceives) {
        redrive(group.messages.shift()!);
      }
      const batch = group.messages.slice(0, maxMessages - received.length);
      for (const message of batch) {
        message.receiveCount += 1;
        message.firstReceivedAt ??= Date.now();
      }
      group.hidden = batch.length;
      received.push(...batch);
      // To the end of the line: every group has its turn.
      groups.delete(name);
      if (group.messages.length > 0) groups.set(name, group);
    }
    return received;
  }

  function remove(message: Message) {
    const group = groups.get(groupName(message));
    const index = group?.messages.indexOf(message) ?? -1;
    if (group === undefined || index < 0) return;
    group.messages.splice(index, 1);
    group.hidden -= 1;
    files?.remove(message.messageId);
    if (group.messages.length === 0) groups.delete(groupName(message));
    message.tried.resolve();
    message.settled.resolve('deleted');
    if (group.hidden === 0) announce();
  }

  function release(message: Message, delay: number) {
    message.tried.resolve();
    showAfter(message, delay);
  }

  function showAfter(message: Message, delay: number) {
    const show = () => {
      const group = groups.get(groupName(message));
      if (group?.messages.includes(message) !== true) return;
      group.hidden -= 1;
      if (group.hidden === 0) announce();
    };
    setTimeout(show, delay).unref();
  }

  /** Only messages of standard queues have a delay: each is a group of its own. */
  function add(message: Message, delay: number) {
    const group = groups.get(groupName(message)) ?? { messages: [], hidden: 0 };
    group.messages.push(message);
    groups.set(groupName(message), group);
    if (delay <= 0) return announce();
    group.hidden = 1;
    showAfter(message, delay);
  }

  function redrive(message: Message) {
    message.settled.resolve('redriven');
    deadLetters()?.takeOver({ ...message, receiveCount: 0 });
    files?.remove(message.messageId);
  }

  function announce() {
    for (const listener of listeners) listener();
  }

  function groupName({ groupId, messageId }: Message): string {
    return definition.fifo ? (groupId ?? '') : messageId;
  }

  function forgetOldDeduplicationIds() {
    const oldest = Date.now() - deduplicationMilliseconds;
    // A Map lists in the order of insertion: the first that is young enough ends the search.
    for (const [key, { sentAt }] of recentlySent) {
      if (sentAt > oldest) break;
      recentlySent.delete(key);
    }
  }
}

function neverReceived(): Pick<Message, 'receiveCount' | 'tried' | 'settled'> {
  return { receiveCount: 0, tried: Promise.withResolvers(), settled: Promise.withResolvers() };
}

function requireAllowedSize(body: string, attributes: Readonly<Record<string, string>>) {
  // Of an attribute its name, type and value count.
  const parts = [body, ...Object.entries(attributes).flatMap(([name, value]) => [name, 'String', value])];
  if (body === '') throw new Refusal('MissingParameter', 'The request must contain the parameter MessageBody.');
  if (parts.reduce((size, part) => size + Buffer.byteLength(part), 0) > maxMessageBytes) {
    throw new Refusal('InvalidMessageContents', 'Body and attributes are larger than 1 MiB.');
  }
}

/** Up to 128 ASCII letters, digits and punctuation characters. */
const idPattern = /^[!-~]{1,128}$/;

function fifoIds(groupId: string | undefined, deduplicationId: string | undefined) {
  if (groupId === undefined) {
    throw new Refusal('MissingParameter', 'The request must contain the parameter MessageGroupId.');
  }
  if (deduplicationId === undefined) {
    throw new Refusal(
      'InvalidParameterValue',
      'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly',
    );
  }
  for (const id of [groupId, deduplicationId]) {
    if (!idPattern.test(id)) {
      throw new Refusal(
        'InvalidParameterValue',
        'MessageGroupId and MessageDeduplicationId can only include alphanumeric and punctuation characters. 1 to 128 in length',
      );
    }
  }
  return { groupId, deduplicationId };
}
