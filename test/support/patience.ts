import { setTimeout as wait } from 'node:timers/promises';

/** Options of `expect.poll` for what must come true: only something that hangs takes so long. */
export const hang = { timeout: 300_000, interval: 50 };

/**
 * The answer to a request that may be repeated. A busy machine makes functions run out of time: 429
 * and 504 say so, and the request is sent again, as clients do.
 */
export async function fetchPatiently(url: string, init: RequestInit): Promise<Response> {
  for (;;) {
    const response = await fetch(url, init);
    if (response.status !== 429 && response.status !== 504) return response;
    await response.body?.cancel();
    await wait(500);
  }
}
