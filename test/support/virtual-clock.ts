import type { Clock } from '../../functions/runtime/clock.ts';

/** A clock that begins at 0. What sleeps lets its time pass at once; nothing else does. */
export function virtualClock(): Clock {
  let time = 0;
  return {
    now: () => time,
    elapsed: () => time,
    async sleep(milliseconds) {
      time += milliseconds;
    },
  };
}
