/**
 * Writes batches and jobs for tests, the way machines do: by events. Each function throws what its
 * first refused event is refused with.
 */

import { randomUUID } from 'node:crypto';
import { applyEvents } from '../../functions/data/lifecycle/apply-events.ts';
import type { LifecycleDb } from '../../functions/data/lifecycle/lifecycle-db.ts';
import type { LifecycleEvent } from '../../functions/schemas/lifecycle-event.ts';
import type { NewBatch, NewJob } from '../../functions/schemas/new-batch.ts';
import { fromMicroseconds } from '../../functions/values/timestamp.ts';

interface WriteOptions {
  /** Id and time of the event; by default a new one, and now. */
  readonly event?: { readonly id: string; readonly time: string } | undefined;
}

type Data<Type extends LifecycleEvent['type']> = Extract<LifecycleEvent, { type: Type }>['data'];
type Content = { [Type in LifecycleEvent['type']]: { type: Type; data: Data<Type>; time?: string | undefined } };

export function writeApi(db: LifecycleDb, options?: Parameters<typeof applyEvents>[2]) {
  const { now } = db.clock;
  const apply = (events: readonly LifecycleEvent[]) => applyEvents(db, events, options);

  async function send(
    userId: string,
    contents: readonly Content[LifecycleEvent['type']][],
    { event }: WriteOptions = {},
  ): Promise<void> {
    const events = contents.map(({ time, ...content }) => ({
      ...{ id: randomUUID(), user_id: userId, time: time ?? fromMicroseconds(now() * 1000), ...event },
      ...content,
    }));
    const error = (await apply(events)).find((each) => each !== undefined);
    if (error !== undefined) throw error;
  }

  return {
    applyEvents: apply,
    createBatch: (userId: string, batch: NewBatch & { created_at?: string }, options?: WriteOptions) =>
      createBatches(userId, [batch], options),
    createBatches,
    /** A microsecond later than other events: a batch that was closed just now takes no jobs. */
    addJobs(userId: string, batch_id: string, jobs: readonly NewJob[], options?: WriteOptions) {
      const time = fromMicroseconds(now() * 1000 + 1);
      return send(userId, [{ type: 'jobs.added', data: { batch_id, jobs: [...jobs] }, time }], options);
    },
    recordBatchStatus: updateBatch,
    setTags: (userId: string, batchId: string, tags: readonly string[], options?: WriteOptions) =>
      updateBatch(userId, batchId, { tags: [...tags] }, options),
    closeBatch: (userId: string, batchId: string, options?: WriteOptions) =>
      updateBatch(userId, batchId, { open: false }, options),
    recordJobStatus: (
      userId: string,
      job_id: string,
      update: Omit<Data<'job.updated'>, 'job_id'>,
      options?: WriteOptions,
    ) => send(userId, [{ type: 'job.updated', data: { job_id, ...update } }], options),
  };

  /** Each by an event of its own, at the time that it is to be created. */
  function createBatches(
    userId: string,
    batches: readonly (NewBatch & { readonly created_at?: string })[],
    options?: WriteOptions,
  ) {
    const contents = batches.map(({ created_at: time, ...data }) => ({ type: 'batch.created' as const, data, time }));
    return send(userId, contents, options);
  }

  function updateBatch(
    userId: string,
    batch_id: string,
    update: Omit<Data<'batch.updated'>, 'batch_id'>,
    options?: WriteOptions,
  ) {
    return send(userId, [{ type: 'batch.updated', data: { batch_id, ...update } }], options);
  }
}
