import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { bucketObjects } from '../data/aws/bucket-objects.ts';
import { messageQueue, sendMessage } from '../data/aws/message-queue.ts';
import { secretsManager } from '../data/aws/secrets-manager.ts';
import { readResults } from '../data/batches/batch-results.ts';
import { database } from '../data/dynamodb/db.ts';
import { getItem } from '../data/dynamodb/reads.ts';
import { type CalledWebhook, callWebhook } from '../data/webhooks/call-webhook.ts';
import { countHostCall, countUnanswered } from '../data/webhooks/host-limits.ts';
import { getLastAttempt, putWebhookAttempt } from '../data/webhooks/webhook-attempts.ts';
import type { WebhookSecret } from '../data/webhooks/webhook-keys.ts';
import { CorruptData } from '../errors.ts';
import { otherFunctions } from '../other-functions.ts';
import { queueUrl, requiredEnv, webhookReach } from '../runtime/env.ts';
import { addToRequestLog, describeError } from '../runtime/request-log.ts';
import type { WebhookAttempt } from '../schemas/webhook.ts';
import { WebhookMessage } from '../schemas/webhook-message.ts';
import { timeLimits } from '../time-limits.ts';
import { parseJson } from '../values/json-text.ts';
import { fromMilliseconds } from '../values/timestamp.ts';
import { derivedUuid } from '../values/uuid.ts';
import { type NextStep, nextStep } from '../webhooks/next-step.ts';
import { WebhookUnanswered } from '../webhooks/post-webhook.ts';
import { readWebhook } from '../webhooks/webhook-url.ts';
import { consume } from './consume.ts';

const db = database(otherFunctions.deliverWebhooks);
const callObject = bucketObjects(requiredEnv('RESULTS_BUCKET'));
const secret: WebhookSecret = { id: requiredEnv('WEBHOOK_KEY_ARN'), call: secretsManager() };
const queue = messageQueue(queueUrl('Webhooks'));
const deadLetters = messageQueue(queueUrl('Webhooks/dead_letters'));
const reach = webhookReach();

/** Larger results are left out of the message: receivers get them by their link. */
const maxResultsBytes = 20 * 1024;

/** A call that lasted so long without an answer has kept others waiting. */
const silentMilliseconds = 1_000;

/** A message to a silent host waits for so long at most. */
const maxSilentMilliseconds = 24 * 3_600_000;

/** What became of a message, for the log. */
type Outcome = WebhookAttempt['outcome'] | 'waits' | 'waits for its host' | 'dropped' | 'dead letter';

/** A receiver that failed: a saved query counts them. */
interface FailingReceiver extends Pick<WebhookMessage, 'user_id' | 'batch_id'> {
  readonly host: string;
  readonly outcome: Outcome;
  readonly reason: string;
}

/** What the calls of a function have in common. */
interface Delivery {
  readonly timeLeft: () => number;
  readonly failing_receivers: FailingReceiver[];
  /** Hosts that answered one of the calls. */
  readonly answering: Set<string>;
}

/**
 * Calls the webhooks of the messages, side by side, each once. A message that is to be tried again,
 * or whose host was called often enough in this minute, is sent anew, with its delay. After the
 * last attempt, or a day without an answer to any call of its host, its user is shown why, and
 * nothing is kept. A message that has waited is dropped where its batch is gone. A message that
 * cannot be read becomes a dead letter. One that fails for a reason of ours is delivered again by
 * the queue.
 */
export function handler({ Records }: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  const dispositions: Partial<Record<Outcome, number>> = {};
  const timeLeft = () => context.getRemainingTimeInMillis() - 1_000 * timeLimits.toStoreDelivery;
  const delivery: Delivery = { timeLeft, failing_receivers: [], answering: new Set() };
  return consume(context, Records, async (record) => {
    addToRequestLog({ dispositions, failing_receivers: delivery.failing_receivers });
    const outcome = await deliver(record, delivery);
    dispositions[outcome] = (dispositions[outcome] ?? 0) + 1;
    return undefined;
  });
}

async function deliver({ messageId, body }: SQSRecord, delivery: Delivery): Promise<Outcome> {
  const message = WebhookMessage.safeParse(parseJson(body)).data;
  if (message === undefined) {
    const attributes = { reason: 'The message cannot be read.', message_id: messageId };
    await sendMessage(deadLetters, { body, attributes });
    return 'dead letter';
  }
  const { user_id, batch_id } = message;
  if (message.waiting_since !== undefined && (await isGone(user_id, batch_id))) return 'dropped';
  if (message.wait_seconds > 0) {
    await sendLater(message, message.wait_seconds);
    return 'waits';
  }
  const last = await getLastAttempt(db, message);
  if (last?.outcome === 'STOPPED') return 'dropped';
  const target = readWebhook(message.webhook, reach);
  // The rules have changed since it was sent. Users are shown the refusal (getWebhookAttempt).
  if ('refusal' in target) return 'dropped';
  const { host } = target.url;
  const { seconds, isSilent } = await countHostCall(db, user_id, host);
  const waitsTooLong = isSilent && db.clock.now() - waitingSince(message) > maxSilentMilliseconds;
  if (seconds > 0 && !waitsTooLong) {
    await sendLater(message, seconds);
    return 'waits for its host';
  }
  const called = seconds > 0 ? undefined : await callHost(message, target.url, delivery);
  const next: NextStep =
    called === undefined
      ? { step: 'give up', reason: 'For a day the host answered no call, or too few.' }
      : nextStep(message.attempts + 1, called.answer);
  const outcome = await recordOutcome(message, next, called);
  if ('reason' in next) delivery.failing_receivers.push({ host, user_id, batch_id, outcome, reason: next.reason });
  return outcome;
}

/** Half a read unit for each 4 KB of the batch's row. */
async function isGone(user_id: string, id: string): Promise<boolean> {
  return (await getItem(db, { table: 'Batches', key: { user_id, id }, consistent: false })) === undefined;
}

/** Calls the receiver. A host that left all calls of this function unanswered counts as silent. */
async function callHost(message: WebhookMessage, url: URL, { timeLeft, answering }: Delivery): Promise<CalledWebhook> {
  const body = await payloadOf(message);
  const called = await callWebhook(db.clock, secret, { id: message.id, url, body, timeoutMilliseconds: timeLeft() });
  const isUnanswered = called.answer instanceof WebhookUnanswered;
  if (!isUnanswered) answering.add(url.host);
  else if (called.delivered.duration_ms >= silentMilliseconds && !answering.has(url.host)) {
    await countUnanswered(db, message.user_id, url.host).catch((error: unknown) =>
      addToRequestLog({ count_fault: describeError(error) }),
    );
  }
  return called;
}

/** The body: the same text at every attempt, as long as the results are the same. */
async function payloadOf({ user_id, batch_id, job, status, updated_at }: WebhookMessage): Promise<string> {
  const type = job === null ? 'batch.updated' : 'job.updated';
  const data = JSON.stringify(job === null ? { batch_id, status } : { batch_id, job_id: job.id, status });
  const document =
    job === null || job.results_key === null ? undefined : await readDocument(user_id, job.id, job.results_key);
  // The document as it was uploaded: parsing would alter its numbers.
  const withResults = document === undefined ? data : `${data.slice(0, -1)},"results":${document}}`;
  return `{"type":"${type}","timestamp":"${updated_at}","data":${withResults}}`;
}

/** Undefined where there is none that fits. */
async function readDocument(userId: string, jobId: string, key: string): Promise<string | undefined> {
  try {
    const found = await readResults(callObject, { userId, keys: new Map([[jobId, key]]), maxBytes: maxResultsBytes });
    if (found?.unreadable.length) addToRequestLog({ unreadable_results: jobId });
    return found?.documents.get(jobId);
  } catch (error) {
    if (!(error instanceof CorruptData)) throw error;
    addToRequestLog({ results_fault: describeError(error) });
    return undefined;
  }
}

async function recordOutcome(message: WebhookMessage, next: NextStep, called?: CalledWebhook): Promise<Outcome> {
  const attempts = message.attempts + 1;
  const record = (recorded: Recorded) => recordAttempt(message, recorded, called);
  switch (next.step) {
    case 'delivered':
      await record({ outcome: 'DELIVERED', reason: null });
      return 'DELIVERED';
    case 'stop':
      await record({ outcome: 'STOPPED', reason: next.reason });
      return 'STOPPED';
    case 'try again': {
      const { reason, delaySeconds } = next;
      await sendLater({ ...message, attempts }, delaySeconds);
      const next_attempt_at = fromMilliseconds(db.clock.now() + delaySeconds * 1000);
      await record({ outcome: 'RETRYING', reason, next_attempt_at });
      return 'RETRYING';
    }
    case 'give up':
      await record({ outcome: 'GIVEN_UP', reason: next.reason });
      return 'GIVEN_UP';
  }
}

/** In milliseconds since 1970; now, for a message that has not waited yet. */
function waitingSince({ waiting_since }: WebhookMessage): number {
  return waiting_since === undefined ? db.clock.now() : Date.parse(waiting_since);
}

/** A wait beyond the longest delay stays in the message. */
async function sendLater(message: WebhookMessage, seconds: number): Promise<void> {
  const delaySeconds = Math.min(seconds, timeLimits.messageDelay);
  const waiting_since = fromMilliseconds(waitingSince(message));
  const body = JSON.stringify({ ...message, wait_seconds: seconds - delaySeconds, waiting_since });
  await sendMessage(queue, { body, attributes: {}, delaySeconds, groupId: derivedUuid(message.user_id) });
}

type Recorded = Pick<WebhookAttempt, 'outcome' | 'reason'> & Partial<Pick<WebhookAttempt, 'next_attempt_at'>>;

/** Users only look at it, so a failure must not make the receiver be called again. */
async function recordAttempt(
  { user_id, batch_id, job, attempts: before }: WebhookMessage,
  recorded: Recorded,
  called: CalledWebhook | undefined,
): Promise<void> {
  const about = { type: job === null ? 'batch.updated' : 'job.updated', job_id: job?.id ?? null } as const;
  const attempts = called === undefined ? before : before + 1;
  const attempt: WebhookAttempt = {
    ...about,
    attempted_at: fromMilliseconds(db.clock.now()),
    attempts,
    next_attempt_at: null,
    ...recorded,
  };
  try {
    const delivery = called && { ...about, attempt: attempts, ...called.delivered };
    await putWebhookAttempt(db, { user_id, batch_id }, attempt, delivery);
  } catch (error) {
    addToRequestLog({ record_fault: describeError(error) });
  }
}
