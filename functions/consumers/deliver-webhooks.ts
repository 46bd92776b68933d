import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { messageSender } from '../data/aws/message-sender.ts';
import { secretsManager } from '../data/aws/secrets-manager.ts';
import { readResults } from '../data/batches/batch-results.ts';
import { documentClient } from '../data/dynamodb/client.ts';
import { type CalledWebhook, callWebhook } from '../data/webhooks/call-webhook.ts';
import { countHostCall } from '../data/webhooks/host-limits.ts';
import { getLastAttempt, putWebhookAttempt } from '../data/webhooks/webhook-attempts.ts';
import { getWebhookKeys } from '../data/webhooks/webhook-keys.ts';
import { CorruptData } from '../errors.ts';
import { queueUrl, requiredEnv, tableNames, webhookReach } from '../runtime/env.ts';
import { addToRequestLog, describeError } from '../runtime/request-log.ts';
import type { WebhookAttempt } from '../schemas/webhook.ts';
import { WebhookMessage } from '../schemas/webhook-message.ts';
import { parseJson } from '../values/json-text.ts';
import { fromMilliseconds } from '../values/timestamp.ts';
import { derivedUuid } from '../values/uuid.ts';
import { type NextStep, nextStep } from '../webhooks/next-step.ts';
import { readWebhook } from '../webhooks/webhook-url.ts';
import { consume } from './consume.ts';

const tables = tableNames('WebhookAttempts', 'Counters');
const lastAttemptOf = getLastAttempt(documentClient(), tables);
const putAttempt = putWebhookAttempt(documentClient(), tables);
const countCall = countHostCall(documentClient(), tables);
const results = readResults(requiredEnv('RESULTS_BUCKET'));
const call = callWebhook(getWebhookKeys(secretsManager(), requiredEnv('WEBHOOK_KEY_ARN')));
const queue = messageSender(queueUrl('Webhooks'));
const deadLetters = messageSender(queueUrl('Webhooks/dead_letters'));
const reach = webhookReach();

/** SQS delays a message by so much at most. */
const maxDelaySeconds = 900;

/** Larger results are left out of the message: receivers get them by their link. */
const maxResultsBytes = 20 * 1024;

/** Kept back from the function's time to say what became of an attempt. */
const reservedMilliseconds = 3_000;

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
  const timeLeft = () => context.getRemainingTimeInMillis() - reservedMilliseconds;
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
    await deadLetters.send({ body, attributes });
    return 'dead letter';
  }
  if (message.wait_seconds > 0) {
    await sendLater(message, message.wait_seconds);
    return 'waits';
  }
  const { user_id, batch_id } = message;
  const last = await lastAttemptOf(user_id, batch_id);
  if (last?.outcome === 'STOPPED') return 'dropped';
  const target = readWebhook(message.webhook, reach);
  // The rules have changed since it was sent. Users are shown the refusal (getWebhookAttempt).
  if ('refusal' in target) return 'dropped';
  const hostWaitSeconds = await countCall(user_id, target.url.host);
  if (hostWaitSeconds > 0) {
    await sendLater(message, hostWaitSeconds);
    return 'waits for its host';
  }
  const called = await call({
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
    const found = await results(userId, new Map([[jobId, key]]), maxResultsBytes);
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
      await record({
        outcome: 'RETRYING',
        reason,
        next_attempt_at: timestamp(Date.now() + delaySeconds * 1000),
      });
      return 'RETRYING';
    }
    case 'give up':
      await record({ outcome: 'GIVEN_UP', reason: next.reason });
      return 'GIVEN_UP';
  }
}

/** What of the waiting time exceeds the longest delay stays in the message. */
async function sendLater(message: WebhookMessage, seconds: number): Promise<void> {
  const delaySeconds = Math.min(seconds, maxDelaySeconds);
  const body = JSON.stringify({ ...message, wait_seconds: seconds - delaySeconds });
  await queue.send({ body, attributes: {}, delaySeconds, groupId: derivedUuid(message.user_id) });
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
    attempted_at: timestamp(Date.now()),
    attempts: attempts + 1,
    next_attempt_at: null,
    ...recorded,
  };
  try {
    await putAttempt(user_id, batch_id, attempt, { ...about, attempt: attempts + 1, ...delivered });
  } catch (error) {
    addToRequestLog({ record_fault: describeError(error) });
  }
}

function timestamp(milliseconds: number): string {
  return fromMilliseconds(milliseconds);
}
