import { createHash } from 'node:crypto';
import type { Event, lifecycle } from '../data/lifecycle/lifecycle.ts';
import { InvalidInput } from '../errors.ts';
import type { LifecycleEvent } from '../schemas/lifecycle-event.ts';
import { toMicroseconds } from '../timestamp.ts';

/** Clocks of machines differ; one that is far ahead would make every later row of the owner appear to be of the future. */
const mostSecondsAhead = 300;

/**
 * Makes the change that an event tells of, once, however often it is sent. Throws what the lifecycle's functions throw, and
 * InvalidInput when the event is more than 5 minutes ahead of this clock.
 */
export async function applyEvent(
  changes: ReturnType<typeof lifecycle>,
  event: LifecycleEvent,
  now = Date.now(),
): Promise<void> {
  if (toMicroseconds(event.time) > (now + mostSecondsAhead * 1000) * 1000) {
    throw new InvalidInput([
      { loc: ['time'], msg: `Input should be at most ${mostSecondsAhead} s in the future`, type: 'datetime_future' },
    ]);
  }
  const { user_id: userId, id, time, type } = event;
  const digest = createHash('sha256').update(JSON.stringify(event)).digest('base64url');
  const occasion: Event = { id, time, digest };
  switch (type) {
    case 'batch.created':
      return changes.createBatch(userId, event.data, occasion);
    case 'jobs.added':
      return changes.addJobs(userId, event.data.batch_id, event.data.jobs, occasion);
    case 'batch.updated': {
      const { batch_id, ...update } = event.data;
      return changes.updateBatch(userId, batch_id, update, occasion);
    }
    case 'job.updated': {
      const { job_id, ...update } = event.data;
      return changes.recordJobStatus(userId, job_id, update, occasion);
    }
  }
}
