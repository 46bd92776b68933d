import { InvalidInput } from '../../errors.ts';
import type { LifecycleEvent } from '../../schemas/lifecycle-event.ts';
import { earlierOf, fromMilliseconds, toMicroseconds } from '../../values/timestamp.ts';
import { creationChanges } from './creation.ts';
import { type Change, digestOf, type SourceCall } from './draft.ts';
import { requireOwnResults, updateBatch, updateJob } from './update.ts';

/**
 * Clocks differ. An event from far ahead would make every later row of the owner appear to be from
 * the future.
 */
const maxSecondsAhead = 300;

/**
 * The operations that an event asks for; no start or end is later than `now`, in milliseconds since
 * 1970. Throws InvalidInput when the event is more than 5 minutes ahead of `now`, or names results
 * that are not its owner's.
 */
export function eventChanges(userId: string, event: LifecycleEvent, now: number): Change[] {
  const { id, time } = event;
  if (toMicroseconds(time) > (now + maxSecondsAhead * 1000) * 1000) {
    const msg = `Input should be at most ${maxSecondsAhead} s in the future`;
    throw new InvalidInput([{ loc: ['body', 'time'], msg, type: 'datetime_future' }]);
  }
  const reference: SourceCall = { id, time, digest: digestOf(event) };
  switch (event.type) {
    case 'batch.created': {
      const { jobs, ...create } = event.data;
      return creationChanges(userId, { batchId: create.id, create, jobs, time }, reference);
    }
    case 'jobs.added': {
      const { batch_id: batchId, jobs } = event.data;
      return creationChanges(userId, { batchId, jobs, time }, reference);
    }
    case 'batch.updated': {
      const { batch_id, ...update } = upTo(event.data, fromMilliseconds(now));
      return [updateBatch({ id: batch_id, update, event: reference })];
    }
    case 'job.updated': {
      const { job_id, ...update } = upTo(event.data, fromMilliseconds(now));
      requireOwnResults(userId, update.results_key, ['body', 'data', 'results_key']);
      return [updateJob({ id: job_id, update, event: reference })];
    }
  }
}

/** What was reported, with no start or end after `now`: nothing starts or ends in the future. */
function upTo<Data extends object>(data: Data, now: string): Data {
  const times = Object.entries(data).filter(([name]) => /^(start|end)_/.test(name));
  return { ...data, ...Object.fromEntries(times.map(([name, time]) => [name, earlierOf(time, now)])) };
}
