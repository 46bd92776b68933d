import { createHash } from 'node:crypto';
import { InvalidInput } from '../../errors.ts';
import type { LifecycleEvent } from '../../schemas/lifecycle-event.ts';
import { fromMicroseconds, toMicroseconds } from '../../timestamp.ts';
import type { OwnerLists } from '../columns/lists.ts';
import { creationOperations } from './creation.ts';
import type { Event, Operation } from './draft.ts';
import { batchUpdate, jobUpdate } from './update.ts';

/** Clocks differ; one that is far ahead would make every later row of the owner appear to be of the future. */
const mostSecondsAhead = 300;

/**
 * What an event asks for. Throws InvalidInput when it is more than 5 minutes ahead of `now` (milliseconds since 1970), or names
 * results that are not its owner's.
 */
export function eventTask(lists: OwnerLists, event: LifecycleEvent, now: number): Operation[] {
  const { user_id: userId, id, time } = event;
  if (toMicroseconds(time) > (now + mostSecondsAhead * 1000) * 1000) {
    const msg = `Input should be at most ${mostSecondsAhead} s in the future`;
    throw new InvalidInput([{ loc: ['time'], msg, type: 'datetime_future' }]);
  }
  const digest = createHash('sha256').update(JSON.stringify(event)).digest('base64url');
  const reference: Event = { id, time, digest };
  const present = fromMicroseconds(now * 1000);
  switch (event.type) {
    case 'batch.created': {
      const { jobs, ...create } = event.data;
      return creationOperations(lists, userId, { batchId: create.id, create, jobs, time }, reference);
    }
    case 'jobs.added': {
      const { batch_id: batchId, jobs } = event.data;
      return creationOperations(lists, userId, { batchId, jobs, time }, reference);
    }
    case 'batch.updated': {
      const { batch_id: batchId, ...update } = event.data;
      return [batchUpdate(lists, batchId, update, present, reference)];
    }
    case 'job.updated': {
      const { job_id: jobId, ...update } = event.data;
      return [jobUpdate(lists, userId, jobId, update, present, reference)];
    }
  }
}
