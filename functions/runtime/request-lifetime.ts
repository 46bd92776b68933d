/**
 * Whether a request has its answer already. Lambda freezes a function when it answers, and thaws it
 * for the next request: what was still under way at a 504 would go on then, long after the caller
 * has sent the request again.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { systemClock } from './clock.ts';

interface Request {
  answered: boolean;
  readonly start: number;
  readonly millisecondsLeft: () => number;
}

const current = new AsyncLocalStorage<Request>();

/**
 * Does the work of one request. Its result is the answer, whatever part of the work is still under
 * way. `millisecondsLeft` is the function's: Lambda's `getRemainingTimeInMillis`.
 */
export function withinRequest<Answer>(
  work: () => Promise<Answer>,
  millisecondsLeft: () => number = () => Infinity,
): Promise<Answer> {
  const request: Request = { answered: false, start: systemClock.elapsed(), millisecondsLeft };
  return current.run(request, async () => {
    try {
      return await work();
    } finally {
      request.answered = true;
    }
  });
}

/** How long ago the request began; undefined where this is no work of a request. */
export function requestMilliseconds(): number | undefined {
  const request = current.getStore();
  return request && systemClock.elapsed() - request.start;
}

/** How long the request may still take; Infinity when that is unknown. */
export function millisecondsLeft(): number {
  return current.getStore()?.millisecondsLeft() ?? Infinity;
}

/** Whether this is work of a request that has its answer already: it must change nothing more. */
export function isRequestOver(): boolean {
  return current.getStore()?.answered === true;
}
