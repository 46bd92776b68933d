/** A signed call of a receiver: of a message, or of a test that a user asks for. */

import { randomUUID } from 'node:crypto';
import { NoWebhook, ReceiverBusy } from '../../errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import { addToRequestLog, describeError } from '../../runtime/request-log.ts';
import type { Batch } from '../../schemas/batch.ts';
import type { WebhookDelivery } from '../../schemas/webhook.ts';
import { timeLimits } from '../../time-limits.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import { failureOf } from '../../webhooks/next-step.ts';
import { postWebhook, type WebhookAnswer, WebhookUnanswered } from '../../webhooks/post-webhook.ts';
import { signatureHeaders } from '../../webhooks/signing-key.ts';
import { readWebhook, type WebhookReach } from '../../webhooks/webhook-url.ts';
import type { Db } from '../dynamodb/db.ts';
import { countHostCall, countTest, maxCallsPerMinute } from './host-limits.ts';
import { putDelivery } from './webhook-attempts.ts';
import { getWebhookKeys, type WebhookSecret } from './webhook-keys.ts';

interface WebhookCall {
  /** The same for all attempts at a message. */
  readonly id: string;
  readonly url: URL;
  readonly body: string;
  /** How long an answer is waited for; 15 s at most. */
  readonly timeoutMilliseconds: number;
}

export interface CalledWebhook {
  /** The answer, or why there was none. */
  readonly answer: WebhookAnswer | WebhookUnanswered;
  readonly delivered: Pick<WebhookDelivery, 'sent_at' | 'duration_ms' | 'status' | 'reason'>;
}

/** Signs and sends a message once. Throws what is not the receiver's fault. */
export async function callWebhook(
  clock: Clock,
  secret: WebhookSecret,
  { id, url, body, timeoutMilliseconds }: WebhookCall,
): Promise<CalledWebhook> {
  const keys = await getWebhookKeys(clock, secret);
  const [sent, start] = [clock.now(), clock.elapsed()];
  const headers = signatureHeaders({ id, timestamp: Math.floor(sent / 1000), body }, keys);
  const timeout = Math.min(1_000 * timeLimits.receiverCall, Math.max(timeoutMilliseconds, 1_000));
  const answer = await postWebhook({ url, headers, body }, { timeoutMilliseconds: timeout }).catch((error: unknown) => {
    if (error instanceof WebhookUnanswered) return error;
    throw error;
  });
  const status = answer instanceof Error ? null : answer.status;
  const sent_at = fromMilliseconds(sent);
  const duration_ms = Math.round(clock.elapsed() - start);
  return { answer, delivered: { sent_at, duration_ms, status, reason: failureOf(answer) ?? null } };
}

interface TestOptions extends Pick<WebhookCall, 'timeoutMilliseconds'> {
  readonly secret: WebhookSecret;
  readonly reach: WebhookReach;
}

/**
 * Sends a test to a batch's webhook now, once, and returns its outcome. The test becomes one of the
 * batch's deliveries, unless it cannot be stored: then the log says so. It counts for its host like
 * any other call. Throws NoWebhook when the batch has none, or one that is never called;
 * TooManyCalls when the user has sent ten tests in this minute; ReceiverBusy when its host was
 * called often enough. 3 to 6 write units.
 */
export async function testWebhook(
  db: Db<'WebhookAttempts' | 'Counters'>,
  { user_id, id: batch_id, webhook }: Pick<Batch, 'user_id' | 'id' | 'webhook'>,
  { secret, reach, timeoutMilliseconds }: TestOptions,
): Promise<WebhookDelivery> {
  if (webhook === null) throw new NoWebhook('The batch has no webhook.');
  const target = readWebhook(webhook, reach);
  if ('refusal' in target) throw new NoWebhook(target.refusal);
  const { url } = target;
  await countTest(db, user_id);
  // Users test whether a silent receiver answers again.
  const max = { ...maxCallsPerMinute, ofSilent: Number.POSITIVE_INFINITY };
  const { seconds } = await countHostCall(db, user_id, url.host, max);
  if (seconds > 0) throw new ReceiverBusy(seconds);
  const timestamp = fromMilliseconds(db.clock.now());
  const body = JSON.stringify({ type: 'webhook.test', timestamp, data: { batch_id } });
  const message = { id: `msg_${randomUUID()}`, url, body, timeoutMilliseconds };
  const { delivered } = await callWebhook(db.clock, secret, message);
  const delivery: WebhookDelivery = { type: 'webhook.test', job_id: null, attempt: 1, ...delivered };
  // The receiver was called: an error would lead the user to send another test.
  await putDelivery(db, { user_id, batch_id }, delivery).catch((error: unknown) =>
    addToRequestLog({ record_fault: describeError(error) }),
  );
  return delivery;
}
