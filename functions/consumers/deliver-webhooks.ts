import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { messageQueue, sendMessage } from '../data/aws/message-queue.ts';
import { boundedReads, resultsBucket } from '../data/aws/results-bucket.ts';
import { secretsManager } from '../data/aws/secrets-manager.ts';
import { readResults } from '../data/batches/batch-results.ts';
import { database } from '../data/dynamodb/db.ts';
import { type CalledWebhook, callWebhook } from '../data/webhooks/call-webhook.ts';
import { countHostCall } from '../data/webhooks/host-limits.ts';
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
import { readWebhook } from '../webhooks/webhook-url.ts';
import { consume } from './consume.ts';

const db = database(otherFunctions.deliverWebhooks);
const bucket = resultsBucket(requiredEnv('RESULTS_BUCKET'), boundedReads);
const secret: WebhookSecret = { id: requiredEnv('WEBHOOK_KEY_ARN'), call: secretsManager() };
const queue = messageQueue(queueUrl('Webhooks'));
const deadLetters = messageQueue(queueUrl('Webhooks/dead_letters'));
const reach = webhookReach();

/** Larger results are left out of the message: receivers get them by their link. */
const maxResultsBytes = 20 * 1024;

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
}

/**
 * Calls the webhooks of the messages, side by side, each once. A message that is to be tried again,
 * or whose host was called often enough in this minute, is sent anew, with its delay. After the
 * last attempt its user is shown why, and nothing is kept. A message that cannot be read becomes a
 * dead letter. One that fails for a reason of ours is delivered again by the queue.
 */
export function handler({ Records }: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  const dispositions: Partial<Record<Outcome, number>> = {};
  const timeLeft = () => context.getRemainingTimeInMillis() - 1_000 * timeLimits.toStoreDelivery;
  const delivery: Delivery = { timeLeft, failing_receivers: [] };
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
  if (message.wait_seconds > 0) {
    await sendLater(message, message.wait_seconds);
    return 'waits';
  }
  const { user_id, batch_id } = message;
  const last = await getLastAttempt(db, message);
  if (last?.outcome === 'STOPPED') return 'dropped';
  const target = readWebhook(message.webhook, reach);
  // The rules have changed since it was sent. Users are shown the refusal (getWebhookAttempt).
  if ('refusal' in target) return 'dropped';
  const hostWaitSeconds = await countHostCall(db, user_id, target.url.host);
  if (hostWaitSeconds > 0) {
    await sendLater(message, hostWaitSeconds);
    return 'waits for its host';
  }
  const called = await callWebhook(db.clock, secret, {
    id: message.id,
    url: target.url,
    body: await payloadOf(message),
    timeoutMilliseconds: delivery.timeLeft(),
  });
  const next = nextStep(message.attempts + 1, called.answer);
  const outcome = await recordOutcome(message, next, called);
  if ('reason' in next) {
    delivery.failing_receivers.push({ host: target.url.host, user_id, batch_id, outcome, reason: next.reason });
  }
  return outcome;
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
    const found = await readResults(bucket, { userId, keys: new Map([[jobId, key]]), maxBytes: maxResultsBytes });
    if (found?.unreadable.length) addToRequestLog({ unreadable_results: jobId });
    return found?.documents.get(jobId);
  } catch (error) {
    if (!(error instanceof CorruptData)) throw error;
    addToRequestLog({ results_fault: describeError(error) });
    return undefined;
  }
}

async function recordOutcome(message: WebhookMessage, next: NextStep, called: CalledWebhook): Promise<Outcome> {
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

/** A wait beyond the longest delay stays in the message. */
async function sendLater(message: WebhookMessage, seconds: number): Promise<void> {
  const delaySeconds = Math.min(seconds, timeLimits.messageDelay);
  const body = JSON.stringify({ ...message, wait_seconds: seconds - delaySeconds });
  await sendMessage(queue, { body, attributes: {}, delaySeconds, groupId: derivedUuid(message.user_id) });
}

type Recorded = Pick<WebhookAttempt, 'outcome' | 'reason'> & Partial<Pick<WebhookAttempt, 'next_attempt_at'>>;

/** Users only look at it, so a failure must not make the receiver be called again. */
async function recordAttempt(
  { user_id, batch_id, job, attempts }: WebhookMessage,
  recorded: Recorded,
  { delivered }: CalledWebhook,
): Promise<void> {
  const about = { type: job === null ? 'batch.updated' : 'job.updated', job_id: job?.id ?? null } as const;
  const attempt: WebhookAttempt = {
    ...about,
    attempted_at: fromMilliseconds(db.clock.now()),
    attempts: attempts + 1,
    next_attempt_at: null,
    ...recorded,
  };
  try {
    await putWebhookAttempt(db, { user_id, batch_id }, attempt, { ...about, attempt: attempts + 1, ...delivered });
  } catch (error) {
    addToRequestLog({ record_fault: describeError(error) });
  }
}
