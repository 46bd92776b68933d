import type { Db } from '../../functions/data/dynamodb/db.ts';
import { type CallOfUser, withPlace } from '../../functions/data/limits/calls-at-once.ts';

/** Begins `count` long calls of a user. A call that got a place goes on until `end` is called. */
export async function heldPlaces(db: Db<'Counters'>, call: CallOfUser, count: number) {
  const gate = Promise.withResolvers<void>();
  const calls: Promise<void>[] = [];
  const begun = Array.from({ length: count }, () => {
    const begins = Promise.withResolvers<void>();
    calls.push(
      withPlace(db, call, async (begin) => {
        await begin().then(begins.resolve, begins.reject);
        await gate.promise;
      }),
    );
    return begins.promise;
  });
  const outcomes = await Promise.allSettled(begun);
  const end = async () => {
    gate.resolve();
    await Promise.allSettled(calls);
  };
  return { end, outcomes, taken: outcomes.filter(({ status }) => status === 'fulfilled').length };
}
