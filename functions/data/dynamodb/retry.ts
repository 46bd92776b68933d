import { TooBusy } from '../../errors.ts';
import type { Clock } from '../../runtime/clock.ts';

export interface Retry {
  /** How often the work is done at most. */
  readonly attempts: number;
  /**
   * Upper bound of the pause before the second attempt. It doubles for each further one, up to
   * `maxDelayMilliseconds`.
   */
  readonly firstMilliseconds: number;
  readonly maxDelayMilliseconds: number;
  /** Whether another attempt may succeed after this error. */
  readonly mayPass: (error: unknown) => boolean;
  /** What TooBusy says when no attempt succeeded. */
  readonly message: string;
}

/**
 * Repeats a call of DynamoDB that may leave some of its items unprocessed, until none is left.
 * `send` returns the number left. Throws TooBusy after this number of attempts: 6 take 1.5 s, 8
 * about 3 s.
 */
export function untilProcessed(clock: Clock, attempts: number, send: () => Promise<number>): Promise<void> {
  const sendAll = async () => {
    const left = await send();
    if (left > 0) throw new Unprocessed(`${left} items`);
  };
  return retry(clock, sendAll, {
    attempts,
    firstMilliseconds: 100,
    maxDelayMilliseconds: 1_600,
    mayPass: (error) => error instanceof Unprocessed,
    message: 'DynamoDB left items unprocessed through all attempts.',
  });
}

class Unprocessed extends Error {}

/**
 * Repeats the work until it succeeds, and pauses a random part of the bound each time (full
 * jitter), so that callers that met do not meet again. Errors that cannot pass are thrown
 * unchanged. After the last attempt TooBusy is thrown, with the error as its cause.
 */
export async function retry<Result>(
  clock: Clock,
  work: () => Promise<Result>,
  { attempts, firstMilliseconds, maxDelayMilliseconds, mayPass, message }: Retry,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!mayPass(error)) throw error;
      if (attempt === attempts) throw new TooBusy(message, { cause: error });
    }
    const bound = Math.min(maxDelayMilliseconds, firstMilliseconds * 2 ** (attempt - 1));
    await clock.sleep(Math.random() * bound);
  }
}
