import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { creationChanges } from '../../../../functions/data/lifecycle/creation.ts';
import { hasJobsToEnd } from '../../../../functions/data/lifecycle/derive-status.ts';
import { type Draft, visibleBatch, visibleJob } from '../../../../functions/data/lifecycle/draft.ts';
import { endJobsChanges } from '../../../../functions/data/lifecycle/end-jobs.ts';
import { eventChanges } from '../../../../functions/data/lifecycle/event-changes.ts';
import { updateBatch, updateJob } from '../../../../functions/data/lifecycle/update.ts';
import { IllegalTransition } from '../../../../functions/errors.ts';
import { LifecycleEvent } from '../../../../functions/schemas/lifecycle-event.ts';
import type { BatchStatus, JobStatus } from '../../../../functions/schemas/values.ts';
import { finalBatchStatuses } from '../../../../functions/statuses.ts';
import { cases } from '../../../support/depth.ts';
import { applyAll, draftOf, userId } from '../../../support/drafts.ts';
import { newBatch, newJob } from '../../../support/new-batch.ts';
import { seed } from '../../../support/seed.ts';

const at = (second: number) => `2026-03-01T00:00:${String(second).padStart(2, '0')}.000000Z`;
const { id } = newBatch(1);

/** A batch with two jobs. */
function create(open: boolean, jobNumbers: readonly number[] = [1, 2]): Draft {
  const { jobs, ...create } = newBatch(1, { open, jobs: jobNumbers.map((number) => newJob(number)) });
  return applyAll(draftOf(), creationChanges(userId, { batchId: id, create, jobs, time: at(0) }));
}

const eventAt = (time: string) => ({ id: 'e', digest: 'd', time });
const job = (draft: Draft, number: number, status: JobStatus, second = 1) =>
  updateJob({ id: newJob(number).id, update: { status }, event: eventAt(at(second)) }).apply(draft);
const batch = (draft: Draft, update: Parameters<typeof updateBatch>[0]['update'], second = 1) =>
  updateBatch({ id, update, event: eventAt(at(second)) }).apply(draft);
const shown = (draft: Draft) => visibleBatch(draft, id)!;
/** The first two jobs. */
const jobsOf = (draft: Draft) => [1, 2].map((number) => visibleJob(draft, newJob(number).id)!);
const endAt = (second: number, status: BatchStatus) => ({
  type: 'batch.updated',
  time: at(second),
  data: { batch_id: id, status },
});
const jobEvent = (number: number, status: JobStatus) => ({
  type: 'job.updated',
  time: at(1),
  data: { job_id: newJob(number).id, status },
});

describe('deriving', () => {
  it('ends a closed batch with its last job, at that time', () => {
    const running = job(create(false), 1, 'DONE', 5);
    expect(shown(running)).toMatchObject({ status: 'PENDING', updated_at: at(0) });
    expect(shown(job(running, 2, 'ERROR', 9))).toMatchObject({
      status: 'DONE',
      updated_at: at(9),
      end_datetime: at(9),
    });
  });

  it('shows the end that was reported, once the row has ended, and never before its start', () => {
    const early = batch(create(false), { end_datetime: at(5), start_datetime: at(3) });
    expect(shown(early)).toMatchObject({ status: 'PENDING', end_datetime: null });
    const ended = batch(early, { status: 'TIMED_OUT' }, 9);
    expect(shown(ended)).toMatchObject({ end_datetime: at(5) });
    expect(shown(batch(ended, { tags: ['x'] }, 20))).toMatchObject({ end_datetime: at(5) });
    expect(shown(batch(ended, { start_datetime: at(6) }, 10))).toMatchObject({ end_datetime: at(6) });
    expect(shown(batch(batch(ended, { start_datetime: at(6) }, 10), { start_datetime: at(2) }, 11))).toMatchObject({
      end_datetime: at(5),
    });
  });

  it('shows no end before the creation of what never started', () => {
    const early = '1999-01-01T00:00:00.000000Z';
    const ended = batch(batch(create(false), { status: 'TIMED_OUT', end_datetime: early }, 9), {}, 10);
    expect(shown(ended)).toMatchObject({ end_datetime: at(0), reported: { end_datetime: early } });
    const update = { status: 'ERROR', end_timestamp: early } as const;
    const job = updateJob({ id: newJob(1).id, update, event: eventAt(at(5)) }).apply(create(false));
    expect(jobsOf(job)[0]).toMatchObject({ end_timestamp: at(0) });
  });

  it('takes the time of the event that ended the row where no end was reported', () => {
    const running = job(create(true), 1, 'RUNNING', 2);
    const done = job(running, 1, 'DONE', 5);
    expect(jobsOf(done)).toMatchObject([{ end_timestamp: at(5) }, { end_timestamp: null }]);
    const named = { id: newJob(1).id, update: { results_key: 'x' }, event: eventAt(at(9)) };
    expect(jobsOf(updateJob(named).apply(done))).toMatchObject([{ end_timestamp: at(5) }, {}]);
    const ended = batch(batch(create(true), { status: 'ERROR' }, 4), { device_status: 'DOWN' }, 8);
    expect(shown(ended)).toMatchObject({ updated_at: at(8), end_datetime: at(4) });
  });

  it('takes no start or end from the future', () => {
    const time = '2099-01-01T00:00:00Z';
    const data = { batch_id: id, status: 'DONE', start_datetime: time, end_datetime: time };
    const now = '2026-04-01T00:00:00.000000Z';
    const ended = applyEvents(create(false), [{ type: 'batch.updated', time: at(9), data }]);
    expect(shown(ended)).toMatchObject({ start_datetime: now, end_datetime: now });
  });

  it('ends a batch as CANCELED only when all of its jobs are', () => {
    const canceled = job(create(false), 1, 'CANCELED');
    expect(shown(job(canceled, 2, 'CANCELED')).status).toBe('CANCELED');
    expect(shown(job(canceled, 2, 'DONE')).status).toBe('DONE');
  });

  it('waits for the closing of an open batch, and for a job that is CANCELING', () => {
    const over = job(job(create(true), 1, 'DONE'), 2, 'CANCELING');
    expect(shown(batch(over, { open: false })).status).toBe('PENDING');
    const all = job(over, 2, 'DONE', 3);
    expect(shown(all).status).toBe('PENDING');
    expect(shown(batch(all, { open: false }, 7))).toMatchObject({
      status: 'DONE',
      updated_at: at(7),
      end_datetime: at(7),
    });
  });

  it('ends a batch without jobs when it is closed, but not when it was created closed', () => {
    expect(shown(batch(create(true, []), { open: false })).status).toBe('DONE');
    expect(shown(batch(create(false, []), { tags: ['x'] })).status).toBe('PENDING');
  });

  it('does not end a batch that is still being created', () => {
    const { jobs, ...create } = newBatch(1, { jobs: Array.from({ length: 11 }, (_, number) => newJob(number)) });
    const [first] = creationChanges(userId, { batchId: id, create, jobs, time: at(0) });
    const started = first!.apply(draftOf());
    const ended = jobs.slice(0, 10).reduce((draft, _, number) => job(draft, number, 'DONE'), started);
    expect(shown(ended)).toMatchObject({ creating: true, status: 'PENDING' });
  });

  it('leaves what was reported of the whole batch', () => {
    const failed = batch(create(false), { status: 'TIMED_OUT' });
    expect(shown(job(job(failed, 1, 'DONE'), 2, 'DONE'))).toMatchObject({ status: 'TIMED_OUT' });
  });

  it('stays until an event reports another end', () => {
    const done = job(job(create(false), 1, 'DONE'), 2, 'DONE');
    expect(shown(batch(done, { status: 'CANCELED' })).status).toBe('CANCELED');
    expect(shown(batch(done, { status: 'RUNNING' })).status).toBe('DONE');
    expect(shown(batch(done, { status: 'DONE' })).status).toBe('DONE');
    expect(shown(batch(done, { tags: ['x'] }))).toMatchObject({ status: 'DONE', tags: ['x'] });
  });

  it('goes on when a job comes late that was added before the closing', () => {
    const closed = applyEvents(job(job(create(true), 1, 'DONE'), 2, 'DONE'), [
      { type: 'batch.updated', time: at(20), data: { batch_id: id, open: false } },
    ]);
    expect(shown(closed).status).toBe('DONE');
    const added = { type: 'jobs.added', time: at(10), data: { batch_id: id, jobs: [{ id: newJob(3).id, runs: 1 }] } };
    const late = applyEvents(closed, [added]);
    expect(shown(late)).toMatchObject({ status: 'PENDING', updated_at: at(20), end_datetime: null });
    expect(shown(late)).not.toHaveProperty('reported');
    expect(shown(job(late, 3, 'DONE', 30))).toMatchObject({ status: 'DONE', updated_at: at(30) });
  });

  it.each([
    ['CANCELED', null],
    ['TIMED_OUT', ['The batch timed out.']],
    ['ERROR', ['The batch failed.']],
  ] as const)('closes a batch that an event says is %s, and cancels its unfinished jobs', (status, errors) => {
    const running = job(job(create(true), 1, 'DONE', 1), 2, 'RUNNING', 2);
    const ended = applyEvents(running, [endAt(7, status)]);
    expect(shown(ended)).toMatchObject({ status, open: false, jobs_count_per_status: { DONE: 1, CANCELED: 1 } });
    expect(jobsOf(ended)).toMatchObject([
      { status: 'DONE', updated_at: at(1), errors: null },
      { status: 'CANCELED', updated_at: at(7), end_timestamp: at(7), errors },
    ]);
  });

  it('keeps the errors that a job has of its own', () => {
    const update = { errors: ['lost atoms'] };
    const failing = updateJob({ id: newJob(1).id, update, event: eventAt(at(1)) }).apply(create(false));
    expect(jobsOf(applyEvents(failing, [endAt(7, 'ERROR')]))).toMatchObject([
      { errors: ['lost atoms'] },
      { errors: ['The batch failed.'] },
    ]);
  });

  it('is asked here for every final status', () => {
    expect(finalBatchStatuses).toEqual(['DONE', 'CANCELED', 'TIMED_OUT', 'ERROR']);
  });

  it('ends no job of a batch that is DONE as a whole: their own ends are on their way', () => {
    const done = applyEvents(create(true), [endAt(7, 'DONE')]);
    expect(shown(done)).toMatchObject({ status: 'DONE', open: false, jobs_count_per_status: { PENDING: 2 } });
  });

  it('lets the end that an event says of a job win', () => {
    const ended = applyEvents(create(false), [endAt(7, 'TIMED_OUT')]);
    const done = applyEvents(ended, [{ ...jobEvent(1, 'DONE'), time: at(9) }, jobEvent(2, 'RUNNING')]);
    expect(jobsOf(done)).toMatchObject([
      { status: 'DONE', errors: null, updated_at: at(9) },
      { status: 'CANCELED', updated_at: at(7) },
    ]);
    expect(jobsOf(done)[0]).toMatchObject({ reported: { status: 'DONE' }, end_timestamp: at(9) });
    expect(shown(done)).toMatchObject({ status: 'TIMED_OUT', jobs_count_per_status: { DONE: 1, CANCELED: 1 } });
  });

  it('ends a job that comes late for a batch that has ended', () => {
    const ended = applyEvents(create(true), [endAt(20, 'TIMED_OUT')]);
    const added = { type: 'jobs.added', time: at(10), data: { batch_id: id, jobs: [{ id: newJob(3).id, runs: 1 }] } };
    const late = applyEvents(ended, [added]);
    expect(late.jobs.get(newJob(3).id)).toMatchObject({ status: 'CANCELED', updated_at: at(20) });
    expect(shown(late)).toMatchObject({ jobs_count: 3, jobs_count_per_status: { CANCELED: 3, PENDING: 0 } });
    expect(() => applyEvents(ended, [{ ...added, time: at(21) }])).toThrow(IllegalTransition);
  });

  it.each(['PENDING', 'RUNNING', 'CANCELING'] as const)('knows that a job that is %s is left to end', (status) => {
    const other = job(job(create(false), 1, status), 2, 'DONE');
    const ofBatch = (end: BatchStatus) => shown(batch(other, { status: end }));
    for (const end of ['CANCELED', 'TIMED_OUT', 'ERROR'] as const) expect(hasJobsToEnd(ofBatch(end))).toBe(true);
    for (const end of ['DONE', 'RUNNING'] as const) expect(hasJobsToEnd(ofBatch(end))).toBe(false);
    expect(hasJobsToEnd(shown(applyEvents(other, [endAt(7, 'ERROR')])))).toBe(false);
  });

  it('leaves the same batch and jobs for the same events in any order', () => {
    const seconds = fc.integer({ min: 1, max: 9 });
    const ofBatch = fc.record({
      time: seconds.map(at),
      data: fc.oneof(
        fc.constant({ batch_id: id, open: false }),
        fc.constantFrom<BatchStatus>('RUNNING', 'PAUSED', 'TIMED_OUT').map((status) => ({ batch_id: id, status })),
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
        const [rows, other] = [given, shuffled].map((events) => {
          const draft = applyEvents(create(open), events);
          return [shown(draft), ...jobsOf(draft)].map(({ rev: _, ...row }) => row);
        });
        // Times at which two statuses contradict each other are the sender's: the one that arrives
        // later counts.
        fc.pre(!hasTie(given));
        expect(other).toEqual(rows);
      }),
      { numRuns: cases(300, 5_000), seed },
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
    events.flatMap((event, number) => [
      ...eventChanges(
        userId,
        LifecycleEvent.parse({ id: `e-${number}`, user_id: userId, ...event }),
        Date.parse('2026-04-01T00:00:00Z'),
      ),
      ...endJobsChanges({ batchId: id, jobIds: [newJob(1).id, newJob(2).id] }),
    ]),
  );
}
