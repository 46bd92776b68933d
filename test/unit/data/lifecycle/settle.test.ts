import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creationOperations } from '../../../../functions/data/lifecycle/creation.ts';
import { type Draft, settledBatchIn } from '../../../../functions/data/lifecycle/draft.ts';
import { eventOperations } from '../../../../functions/data/lifecycle/event-operations.ts';
import { updateBatch, updateJob } from '../../../../functions/data/lifecycle/update.ts';
import { IllegalTransition } from '../../../../functions/errors.ts';
import { LifecycleEvent } from '../../../../functions/schemas/lifecycle-event.ts';
import type { BatchStatus, JobStatus } from '../../../../functions/schemas/values.ts';
import { applyAll, draftOf, owner } from '../../../support/drafts.ts';
import { newBatch, newJob } from '../../../support/new-batch.ts';

const at = (second: number) => `2026-03-01T00:00:${String(second).padStart(2, '0')}.000000Z`;
const { id } = newBatch(1);

/** A batch with two jobs. */
function created(open: boolean, jobNumbers: readonly number[] = [1, 2]): Draft {
  const { jobs, ...create } = newBatch(1, { open, jobs: jobNumbers.map((number) => newJob(number)) });
  return applyAll(draftOf(), creationOperations(owner, { batchId: id, create, jobs, time: at(0) }));
}

const job = (draft: Draft, number: number, status: JobStatus, second = 1) =>
  updateJob(owner.lists, { id: newJob(number).id, update: { status }, now: at(second) }).apply(draft);
const batch = (draft: Draft, update: Parameters<typeof updateBatch>[1]['update'], second = 1) =>
  updateBatch(owner.lists, { id, update, now: at(second) }).apply(draft);
const shown = (draft: Draft) => settledBatchIn(draft, id)!;

describe('settling', () => {
  it('ends a closed batch with its last job, at that time', () => {
    const running = job(created(false), 1, 'DONE', 5);
    expect(shown(running)).toMatchObject({ status: 'PENDING', updated_at: at(0) });
    expect(shown(job(running, 2, 'ERROR', 9))).toMatchObject({ status: 'DONE', updated_at: at(9), end_datetime: null });
  });

  it('ends a batch as CANCELED only when all of its jobs are', () => {
    const canceled = job(created(false), 1, 'CANCELED');
    expect(shown(job(canceled, 2, 'CANCELED')).status).toBe('CANCELED');
    expect(shown(job(canceled, 2, 'DONE')).status).toBe('DONE');
  });

  it('waits for the closing of an open batch, and for a job that is CANCELING', () => {
    const over = job(job(created(true), 1, 'DONE'), 2, 'CANCELING');
    expect(shown(batch(over, { open: false })).status).toBe('PENDING');
    const all = job(over, 2, 'DONE', 3);
    expect(shown(all).status).toBe('PENDING');
    expect(shown(batch(all, { open: false }, 7))).toMatchObject({ status: 'DONE', updated_at: at(7) });
  });

  it('ends a batch without jobs when it is closed, but not when it was created closed', () => {
    expect(shown(batch(created(true, []), { open: false })).status).toBe('DONE');
    expect(shown(batch(created(false, []), { tags: ['x'] })).status).toBe('PENDING');
  });

  it('does not end a batch that is still being created', () => {
    const { jobs, ...create } = newBatch(1, { jobs: Array.from({ length: 51 }, (_, number) => newJob(number)) });
    const [first] = creationOperations(owner, { batchId: id, create, jobs, time: at(0) });
    const started = first!.apply(draftOf());
    const ended = jobs.slice(0, 50).reduce((draft, _, number) => job(draft, number, 'DONE'), started);
    expect(shown(ended)).toMatchObject({ creating: true, status: 'PENDING' });
  });

  it('leaves what was said of the whole batch', () => {
    const failed = batch(created(false), { status: 'TIMED_OUT' });
    expect(shown(job(job(failed, 1, 'DONE'), 2, 'DONE'))).toMatchObject({ status: 'TIMED_OUT' });
  });

  it('is final to a direct call', () => {
    const done = job(job(created(false), 1, 'DONE'), 2, 'DONE');
    expect(() => batch(done, { status: 'CANCELED' })).toThrow(IllegalTransition);
    expect(() => batch(done, { status: 'RUNNING' })).toThrow(IllegalTransition);
    expect(shown(batch(done, { status: 'DONE' })).status).toBe('DONE');
    expect(shown(batch(done, { tags: ['x'] }))).toMatchObject({ status: 'DONE', tags: ['x'] });
  });

  it('goes on when a job comes late that was added before the closing', () => {
    const closed = applyEvents(job(job(created(true), 1, 'DONE'), 2, 'DONE'), [
      { type: 'batch.updated', time: at(20), data: { batch_id: id, open: false } },
    ]);
    expect(shown(closed).status).toBe('DONE');
    const added = { type: 'jobs.added', time: at(10), data: { batch_id: id, jobs: [{ id: newJob(3).id, runs: 1 }] } };
    const late = applyEvents(closed, [added]);
    expect(shown(late)).toMatchObject({ status: 'PENDING', updated_at: at(20) });
    expect(shown(late)).not.toHaveProperty('unsettled');
    expect(shown(job(late, 3, 'DONE', 30))).toMatchObject({ status: 'DONE', updated_at: at(30) });
  });

  it('leaves the same batch for the same events in any order', () => {
    const seconds = fc.integer({ min: 1, max: 9 });
    const ofBatch = fc.record({
      time: seconds.map(at),
      data: fc.oneof(
        fc.constant({ batch_id: id, open: false }),
        fc.constantFrom<BatchStatus>('RUNNING', 'PAUSED', 'ERROR').map((status) => ({ batch_id: id, status })),
      ),
    });
    const ofJob = fc.record({
      time: seconds.map(at),
      data: fc.record({
        job_id: fc.constantFrom(newJob(1).id, newJob(2).id),
        status: fc.constantFrom<JobStatus>('RUNNING', 'DONE'),
      }),
    });
    const events = fc.array(
      fc.oneof(
        ofBatch.map((event) => ({ type: 'batch.updated', ...event })),
        ofJob.map((event) => ({ type: 'job.updated', ...event })),
      ),
      { minLength: 2, maxLength: 8 },
    );
    const bothOrders = events.chain((given) =>
      fc.tuple(fc.constant(given), fc.shuffledSubarray(given, { minLength: given.length })),
    );
    fc.assert(
      fc.property(fc.boolean(), bothOrders, (open, [given, shuffled]) => {
        const { rev: _, ...batchOf } = shown(applyEvents(created(open), given));
        const { rev: __, ...other } = shown(applyEvents(created(open), shuffled));
        // Times at which two statuses contradict each other are the sender's: the one that arrives later counts.
        fc.pre(!hasTie(given));
        expect(other).toEqual(batchOf);
      }),
      { numRuns: 2_000 },
    );
  });
});

function hasTie(events: readonly { readonly time: string; readonly data: object }[]): boolean {
  const keys = events.map(({ time, data }) => `${time} ${Object.keys(data).join()} ${Object.values(data)[0]}`);
  return new Set(keys).size < keys.length;
}

function applyEvents(draft: Draft, events: readonly { type: string; time: string; data: unknown }[]): Draft {
  return applyAll(
    draft,
    events.flatMap((event, number) =>
      eventOperations(
        owner,
        LifecycleEvent.parse({ id: `e-${number}`, user_id: owner.userId, ...event }),
        Date.parse('2026-04-01T00:00:00Z'),
      ),
    ),
  );
}
