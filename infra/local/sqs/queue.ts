import { randomUUID } from 'node:crypto';
import { Refusal } from '../service/refusal.ts';
import type { QueueDefinition } from '../template/deployment.ts';
import type { MessageFiles, StoredMessage } from './message-files.ts';

/** What a sender gives. */
interface NewMessage {
  readonly body: string;
  /** Message attributes of type String. */
  readonly attributes?: Readonly<Record<string, string>>;
  /**
   * Required by FIFO queues: messages of a group are received in the order in which they were sent.
   * Standard queues are fair to groups.
   */
  readonly groupId?: string;
  /** A FIFO queue keeps only the first message of a group and of five minutes that has it. */
  readonly deduplicationId?: string;
  /** Milliseconds that the message is hidden at first. Standard queues only. */
  readonly delay?: number;
  readonly traceHeader?: string | undefined;
}

/**
 * A message in a queue: deduplication id and sequence number are set in FIFO queues only.
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

/** SQS's limit of body and attributes together: 1 MiB. */
export const maxMessageBytes = 1_048_576;

const deduplicationMilliseconds = 5 * 60_000;

/** Does the work after this number of milliseconds. */
export type Timer = (work: () => void, milliseconds: number) => void;

const timer: Timer = (work, milliseconds) => void setTimeout(work, milliseconds).unref();

/**
 * Messages that are received one batch at a time. In a standard queue every message is a group of
 * its own.
 */
interface Group {
  readonly messages: Message[];
  hidden: number;
}

/**
 * A queue as SQS has them: what is received stays hidden until it is deleted or released. It is
 * empty at first, or holds what `files` hold. `deadLetters` finds the queue that its redrive policy
 * names. `after` measures delays; tests let them pass at once.
 */
export class Queue {
  readonly definition: QueueDefinition;
  readonly #deadLetters: () => Queue | undefined;
  readonly #files: MessageFiles | undefined;
  readonly #after: Timer;
  readonly #maxReceives: number;
  readonly #groups = new Map<string, Group>();
  readonly #recentlySent = new Map<string, Message>();
  readonly #listeners: (() => void)[] = [];
  #lastSequenceNumber = 0n;

  constructor(
    definition: QueueDefinition,
    deadLetters: () => Queue | undefined,
    files?: MessageFiles,
    after: Timer = timer,
  ) {
    this.definition = definition;
    this.#deadLetters = deadLetters;
    this.#files = files;
    this.#after = after;
    this.#maxReceives = definition.redrive?.maxReceiveCount ?? Number.POSITIVE_INFINITY;
    for (const message of files?.read() ?? []) this.#restore(message);
  }

  /** All of its messages, hidden ones too. */
  messages(): readonly Message[] {
    return [...this.#groups.values()].flatMap((group) => group.messages);
  }

  /** How many of them are delayed or under way. */
  hidden(): number {
    return [...this.#groups.values()].reduce((sum, { hidden }) => sum + hidden, 0);
  }

  /** How many of these were never received. */
  delayed(): number {
    return [...this.#groups.values()].filter(({ hidden, messages }) => hidden > 0 && messages[0]?.receiveCount === 0)
      .length;
  }

  /** Calls the listener whenever messages have become visible. */
  onVisible(listener: () => void) {
    this.#listeners.push(listener);
  }

  /** Takes over a message that another queue gave up. */
  takeOver(message: Message) {
    this.#accept(message);
  }

  /**
   * The message, or the one of its group with the same deduplication id that was sent within the
   * last five minutes. Throws Refusal for what SQS refuses.
   */
  send({ body, attributes = {}, groupId, deduplicationId, delay = 0, traceHeader }: NewMessage): Message {
    requireAllowedSize(body, attributes);
    const sent = { body, attributes, traceHeader, sentAt: Date.now() };
    const message = { ...neverReceived(), messageId: randomUUID(), ...sent };
    if (!this.definition.fifo) return this.#accept({ ...message, groupId }, delay);
    if (delay > 0) throw new Refusal('InvalidParameterValue', 'A FIFO queue takes no DelaySeconds of a message.');
    const ids = fifoIds(groupId, deduplicationId);
    const key = JSON.stringify(ids);
    this.#forgetOldDeduplicationIds();
    const known = this.#recentlySent.get(key);
    if (known !== undefined) return known;
    this.#lastSequenceNumber += 1n;
    const inOrder = { ...message, ...ids, sequenceNumber: String(this.#lastSequenceNumber).padStart(20, '0') };
    this.#recentlySent.set(key, inOrder);
    return this.#accept(inOrder);
  }

  /** When it returns, the message outlives this process where there are files. */
  #accept(message: Message, delay = 0): Message {
    const { tried, settled, firstReceivedAt, receiveCount, failure, ...stored } = message;
    this.#files?.write({ ...stored, visibleAt: Date.now() + delay });
    this.#add(message, delay);
    return message;
  }

  /** A message of an earlier process: its consumer is gone. */
  #restore({ visibleAt, ...stored }: StoredMessage) {
    this.#add({ ...stored, ...neverReceived() }, this.definition.fifo ? 0 : visibleAt - Date.now());
    const number = BigInt(stored.sequenceNumber ?? 0);
    if (number > this.#lastSequenceNumber) this.#lastSequenceNumber = number;
  }

  /**
   * Up to `maxMessages` visible messages, the oldest first. They are hidden from now on.
   * - A FIFO queue gives nothing of a group while one of its messages is hidden.
   * - A standard queue is fair: first come messages whose group has the fewest under way.
   * - A message that was received as often as the redrive policy allows goes to the dead-letter
   *   queue instead.
   */
  receive(maxMessages: number): Message[] {
    const received: Message[] = [];
    for (const [name, group] of this.#inTurn()) {
      if (received.length === maxMessages) break;
      if (group.hidden > 0) continue;
      while (group.messages[0] !== undefined && group.messages[0].receiveCount >= this.#maxReceives) {
        this.#redrive(group.messages.shift()!);
      }
      const batch = group.messages.slice(0, maxMessages - received.length);
      for (const message of batch) {
        message.receiveCount += 1;
        message.firstReceivedAt ??= Date.now();
      }
      group.hidden = batch.length;
      received.push(...batch);
      // To the end of the line: every group has its turn.
      this.#groups.delete(name);
      if (group.messages.length > 0) this.#groups.set(name, group);
    }
    return received;
  }

  /**
   * A group whose messages take long keeps no other group waiting, as in SQS's fair queues:
   * docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html
   */
  #inTurn(): Iterable<[string, Group]> {
    if (this.definition.fifo) return this.#groups;
    const underWay = new Map<string | undefined, number>();
    for (const { messages, hidden } of this.#groups.values()) {
      const { groupId, receiveCount } = messages[0]!;
      const isUnderWay = groupId !== undefined && hidden > 0 && receiveCount > 0;
      if (isUnderWay) underWay.set(groupId, (underWay.get(groupId) ?? 0) + 1);
    }
    const loadOf = ([, { messages }]: [string, Group]) => underWay.get(messages[0]?.groupId) ?? 0;
    return [...this.#groups].sort((one, other) => loadOf(one) - loadOf(other));
  }

  delete(message: Message) {
    const group = this.#groups.get(this.#groupName(message));
    const index = group?.messages.indexOf(message) ?? -1;
    if (group === undefined || index < 0) return;
    group.messages.splice(index, 1);
    group.hidden -= 1;
    this.#files?.remove(message.messageId);
    if (group.messages.length === 0) this.#groups.delete(this.#groupName(message));
    message.tried.resolve();
    message.settled.resolve('deleted');
    if (group.hidden === 0) this.#announce();
  }

  /** Ends a delivery: the message is visible again after `delay` milliseconds. */
  release(message: Message, delay: number) {
    message.tried.resolve();
    this.#showAfter(message, delay);
  }

  #showAfter(message: Message, delay: number) {
    const show = () => {
      const group = this.#groups.get(this.#groupName(message));
      if (group?.messages.includes(message) !== true) return;
      group.hidden -= 1;
      if (group.hidden === 0) this.#announce();
    };
    this.#after(show, delay);
  }

  /** Only messages of standard queues have a delay: each is a group of its own. */
  #add(message: Message, delay: number) {
    const group = this.#groups.get(this.#groupName(message)) ?? { messages: [], hidden: 0 };
    group.messages.push(message);
    this.#groups.set(this.#groupName(message), group);
    if (delay <= 0) return this.#announce();
    group.hidden = 1;
    this.#showAfter(message, delay);
  }

  #redrive(message: Message) {
    message.settled.resolve('redriven');
    this.#deadLetters()?.takeOver({ ...message, receiveCount: 0 });
    this.#files?.remove(message.messageId);
  }

  #announce() {
    for (const listener of this.#listeners) listener();
  }

  #groupName({ groupId, messageId }: Message): string {
    return this.definition.fifo ? (groupId ?? '') : messageId;
  }

  #forgetOldDeduplicationIds() {
    const oldest = Date.now() - deduplicationMilliseconds;
    // A Map lists in the order of insertion: the first that is young enough ends the search.
    for (const [key, { sentAt }] of this.#recentlySent) {
      if (sentAt > oldest) break;
      this.#recentlySent.delete(key);
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
