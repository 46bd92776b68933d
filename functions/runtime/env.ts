/** The environment, read at cold start: a missing variable names itself. */

import { type QueueName, type QueueOrDeadLetters, queues } from '../queues.ts';
import type { WebhookReach } from '../webhooks/webhook-url.ts';

/** The value of a variable that must be set. */
export function requiredEnv(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`The environment variable ${name} is not set.`);
  return value;
}

/** The URL of a queue, or of its dead-letter queue, that a function sends to. */
export function queueUrl(used: QueueOrDeadLetters): string {
  const [name, deadLetters] = used.split('/') as [QueueName, string?];
  const { environmentVariable, deadLetterVariable } = queues[name];
  return requiredEnv(deadLetters === undefined ? environmentVariable : deadLetterVariable);
}

/** Whom webhooks are delivered to: hosts of the Internet, unless the local stack says otherwise. */
export function webhookReach(): WebhookReach {
  const reach = process.env.WEBHOOK_REACH ?? 'public';
  if (reach === 'public' || reach === 'loopback' || reach === 'off') return reach;
  throw new Error(`WEBHOOK_REACH is public, loopback or off, not ${reach}.`);
}
