/** A signed call of a receiver: of a message, or of a test that a user asks for. */

import { randomUUID } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { NoWebhook, ReceiverBusy } from '../../errors.ts';
import type { Batch } from '../../schemas/batch.ts';
import type { WebhookDelivery } from '../../schemas/webhook.ts';
import type { TableNames } from '../../tables.ts';
import { fromMilliseconds } from '../../values/timestamp.ts';
import { failureOf } from '../../webhooks/next-step.ts';
import { postWebhook, type WebhookAnswer, WebhookUnanswered } from '../../webhooks/post-webhook.ts';
import { type SigningKey, signatureHeaders } from '../../webhooks/signing-key.ts';
import { readWebhook, type WebhookReach } from '../../webhooks/webhook-url.ts';
import { countHostCall } from './host-limits.ts';
import { putDelivery } from './webhook-attempts.ts';

export interface WebhookCall {
  /** The same for all attempts at a message. */
  readonly id: string;
  readonly url: URL;
  readonly body: string;
  /** How long an answer is waited for; 15 s at most. */
  readonly timeoutMilliseconds: number;
}

/** What came of a call. */
export interface CalledWebhook {
  /** The answer, or why there was none. */
  readonly answer: WebhookAnswer | WebhookUnanswered;
  readonly delivered: Pick<WebhookDelivery, 'sent_at' | 'duration_ms' | 'status' | 'reason'>;
}

/** The longest that a receiver may take to answer. */
const maxAnswerMilliseconds = 15_000;

/** The function that signs and sends a message once. Throws what is not the receiver's fault. */
export function callWebhook(
  keys: () => Promise<readonly SigningKey[]>,
  now = () => Date.now(),
): (call: WebhookCall) => Promise<CalledWebhook> {
  return async ({ id, url, body, timeoutMilliseconds }) => {
    const signingKeys = await keys();
    const start = now();
    const headers = signatureHeaders({ id, timestamp: Math.floor(start / 1000), body }, signingKeys);
    const timeout = Math.min(maxAnswerMilliseconds, Math.max(timeoutMilliseconds, 1_000));
    const answer = await postWebhook({ url, headers, body }, { timeoutMilliseconds: timeout }).catch(
      (error: unknown) => {
        if (error instanceof WebhookUnanswered) return error;
        throw error;
      },
    );
    const status = answer instanceof Error ? null : answer.status;
    const sent_at = fromMilliseconds(start);
    const duration_ms = Math.max(0, Math.round(now() - start));
    return { answer, delivered: { sent_at, duration_ms, status, reason: failureOf(answer) ?? null } };
  };
}

interface TestedWith {
  readonly keys: () => Promise<readonly SigningKey[]>;
  readonly reach: WebhookReach;
  readonly now?: () => number;
}

/**
 * The function that sends a test to a batch's webhook now, once, and returns what came of it. It is
 * one of the batch's deliveries then, and counts for its host like any other call. Throws NoWebhook
 * where there is none that is ever called, ReceiverBusy where its host was called often enough in
 * this minute. 2 to 5 write units.
 */
export function testWebhook(
  client: DynamoDBDocumentClient,
  tables: TableNames<'WebhookAttempts' | 'Counters'>,
  { keys, reach, now = () => Date.now() }: TestedWith,
): (batch: Pick<Batch, 'user_id' | 'id' | 'webhook'>, timeoutMilliseconds: number) => Promise<WebhookDelivery> {
  const countCall = countHostCall(client, tables, { now });
  const call = callWebhook(keys, now);
  const put = putDelivery(client, tables, now);
  return async ({ user_id, id: batch_id, webhook }, timeoutMilliseconds) => {
    if (webhook === null) throw new NoWebhook('The batch has no webhook.');
    const target = readWebhook(webhook, reach);
    if ('refusal' in target) throw new NoWebhook(target.refusal);
    const seconds = await countCall(user_id, target.url.host);
    if (seconds > 0) throw new ReceiverBusy(seconds);
    const timestamp = fromMilliseconds(now());
    const body = JSON.stringify({ type: 'webhook.test', timestamp, data: { batch_id } });
    const { delivered } = await call({ id: `msg_${randomUUID()}`, url: target.url, body, timeoutMilliseconds });
    const delivery: WebhookDelivery = { type: 'webhook.test', job_id: null, attempt: 1, ...delivered };
    await put(user_id, batch_id, delivery);
    return delivery;
  };
}
