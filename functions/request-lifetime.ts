/**
 * Whether a request has its answer already. Lambda freezes a function when it answers, and thaws it
 * for the next request: what was still under way at a 504 would go on then, long after the caller
 * has sent the request again.
 */

import { AsyncLocalStorage } from 'node:async_hooks';

const current = new AsyncLocalStorage<{ answered: boolean; readonly start: number }>();

/**
 * Does the work of one request. Its result is the answer, whatever part of the work is still under
 * way.
 */
export function withinRequest<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  const request = { answered: false, start: performance.now() };
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
  return request && performance.now() - request.start;
}

/** Whether this is work of a request that has its answer already: it must change nothing more. */
export function isRequestOver(): boolean {
  return current.getStore()?.answered === true;
}
