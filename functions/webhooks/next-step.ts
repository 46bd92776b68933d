import type { WebhookAnswer } from './post-webhook.ts';

/** Seconds before each attempt, the first included: from the end of the one before. */
const attemptDelaysSeconds = [0, 5, 300, 1_800, 7_200, 18_000, 36_000] as const;

/** What a receiver may ask for at most. */
const maxDelaySeconds = 86_400;

/** What follows from an attempt. */
export type NextStep =
  | { readonly step: 'delivered' }
  /** 410: the receiver wants no more messages of this batch. */
  | { readonly step: 'stop'; readonly reason: string }
  | { readonly step: 'try again'; readonly reason: string; readonly delaySeconds: number }
  /** The last attempt failed. */
  | { readonly step: 'give up'; readonly reason: string };

/**
 * Decides what follows from attempt number `attempts` (1 for the first): its answer, or why none
 * came. 2xx is delivered, 410 stops, anything else fails. After a failure the next attempt comes
 * after its delay, or after `Retry-After` where that is longer, at most a day.
 */
export function nextStep(attempts: number, result: WebhookAnswer | Error, now = Date.now()): NextStep {
  const reason = failureOf(result);
  if (reason === undefined) return { step: 'delivered' };
  if (!(result instanceof Error) && result.status === 410) return { step: 'stop', reason };
  const delay = attemptDelaysSeconds[attempts];
  if (delay === undefined) return { step: 'give up', reason };
  const asked = result instanceof Error ? 0 : retryAfterSeconds(result.retryAfter, now);
  return { step: 'try again', reason, delaySeconds: Math.max(delay, Math.min(asked, maxDelaySeconds)) };
}

/** Why an attempt failed; undefined where it did not. */
export function failureOf(result: WebhookAnswer | Error): string | undefined {
  if (result instanceof Error) return result.message;
  return result.status >= 200 && result.status <= 299 ? undefined : describeStatus(result.status);
}

function describeStatus(status: number): string {
  if (status === 410) return 'The receiver answered 410: it wants no more messages.';
  const isRedirect = status >= 300 && status <= 399;
  return `The receiver answered ${status}${isRedirect ? ': redirects are not followed' : ''}.`;
}

/** Seconds from now, of a number or a date (RFC 9110); 0 for anything else. */
function retryAfterSeconds(text: string | undefined, now: number): number {
  if (text === undefined) return 0;
  if (/^\d+$/.test(text)) return Number(text);
  const date = Date.parse(text);
  return Number.isNaN(date) ? 0 : Math.max(0, Math.ceil((date - now) / 1000));
}
