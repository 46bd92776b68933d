import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BatchUpdate, statusMove, updateRow } from '../../../../functions/data/lifecycle/update-row.ts';
import { IllegalTransition } from '../../../../functions/errors.ts';
import type { BatchRow } from '../../../../functions/schemas/batch.ts';
import { BatchStatus, JobStatus } from '../../../../functions/schemas/values.ts';
import { batchStatuses, jobStatuses } from '../../../../functions/statuses.ts';
import { cases } from '../../../support/depth.ts';
import { uuid } from '../../../support/new-batch.ts';
import { seed } from '../../../support/seed.ts';

const at = (second: number) => `2026-03-01T00:00:${String(second).padStart(2, '0')}.000000Z`;
const row: BatchRow = {
  id: uuid('b', 1),
  parent_id: null,
  project_id: uuid('c', 1),
  user_id: 'user',
  status: 'PENDING',
  open: true,
  device_type: 'FRESNEL',
  queue_priority: 'LOW',
  tags: ['a'],
  jobs_count: 0,
  jobs_count_per_status: { PENDING: 0, RUNNING: 0, DONE: 0, ERROR: 0, CANCELED: 0, CANCELING: 0 },
  created_at: at(10),
  updated_at: at(10),
  start_datetime: null,
  end_datetime: null,
  device_status: null,
  webhook: null,
  configuration: null,
  backend_configuration: null,
  erased_at: null,
  seq: 0,
  rev: 0,
  written_at: {},
};
const byEvent = (before: BatchRow, update: BatchUpdate, second: number) =>
  updateRow(before, update, { time: at(second), kind: 'event' });
const directly = (before: BatchRow, update: BatchUpdate, second: number) =>
  updateRow(before, update, { time: at(second), kind: 'direct call' });

describe('updateRow', () => {
  it('sets what is given, its time, and the next revision', () => {
    expect(byEvent(row, { status: 'RUNNING', start_datetime: at(11) }, 12)).toMatchObject({
      status: 'RUNNING',
      start_datetime: at(11),
      tags: ['a'],
      updated_at: at(12),
      rev: 1,
    });
  });

  it('returns the same object when an event is repeated', () => {
    const once = byEvent(row, { status: 'RUNNING', tags: ['b'] }, 12);
    expect(byEvent(once, { status: 'RUNNING', tags: ['b'] }, 12)).toBe(once);
  });

  it('closes a batch from the earliest closing on, whichever arrives first', () => {
    const closed = byEvent(byEvent(row, { open: false }, 12), { open: false }, 15);
    expect(byEvent(byEvent(row, { open: false }, 15), { open: false }, 12).written_at).toEqual(closed.written_at);
    const born = { ...row, open: false };
    expect(byEvent(born, { open: false }, 9)).toBe(born);
    expect(byEvent(born, { open: false }, 12).written_at).toEqual({});
  });

  it('lets the later event win for each attribute by itself, whichever arrives first', () => {
    const first: [BatchUpdate, number] = [{ tags: ['b'], device_status: 'UP' }, 12];
    const second: [BatchUpdate, number] = [{ tags: ['c'], start_datetime: at(1) }, 13];
    const inOrder = byEvent(byEvent(row, ...first), ...second);
    expect(byEvent(byEvent(row, ...second), ...first)).toEqual(inOrder);
    expect(inOrder).toMatchObject({ tags: ['c'], device_status: 'UP', start_datetime: at(1), updated_at: at(13) });
  });

  it('keeps a value that a newer event repeated against an older event with another value', () => {
    const said = byEvent(byEvent(row, { tags: ['b'] }, 12), { tags: ['b'] }, 14);
    expect(byEvent(said, { tags: ['c'] }, 13).tags).toEqual(['b']);
  });

  it('takes the time of the latest event for updated_at, even when its status is behind', () => {
    const canceled: [BatchUpdate, number] = [{ status: 'CANCELED' }, 19];
    const running: [BatchUpdate, number] = [{ status: 'RUNNING' }, 21];
    for (const [first, second] of [
      [canceled, running],
      [running, canceled],
    ] as const) {
      expect(byEvent(byEvent(row, ...first), ...second)).toMatchObject({ status: 'CANCELED', updated_at: at(21) });
    }
  });

  it('never moves updated_at back', () => {
    expect(byEvent(row, { device_status: 'UP' }, 5)).toMatchObject({ device_status: 'UP', updated_at: at(10) });
  });

  it('applies the other fields of an event whose status is behind', () => {
    const done = byEvent(row, { status: 'DONE' }, 20);
    expect(byEvent(done, { status: 'RUNNING', start_datetime: at(11) }, 11)).toMatchObject({
      status: 'DONE',
      start_datetime: at(11),
    });
  });

  it('refuses a second final status from an event, and any status that is behind from a direct call', () => {
    const done = byEvent(row, { status: 'DONE' }, 20);
    expect(() => byEvent(done, { status: 'ERROR' }, 10)).toThrow(IllegalTransition);
    expect(() => directly(done, { status: 'RUNNING' }, 30)).toThrow(IllegalTransition);
    expect(() => directly(done, { status: 'ERROR' }, 30)).toThrow(IllegalTransition);
    expect(directly(done, { status: 'DONE' }, 30)).toBe(done);
  });

  it('lets a direct call win even when an event’s clock was ahead', () => {
    const ahead = byEvent(row, { status: 'RUNNING', tags: ['b'] }, 50);
    expect(directly(ahead, { status: 'PAUSED', tags: ['c'] }, 20)).toMatchObject({
      status: 'PAUSED',
      tags: ['c'],
      updated_at: at(50),
    });
  });

  it('gives the same row for the same events in any order, even when their times contradict their statuses', () => {
    const history = fc.constantFrom('DONE' as const, 'CANCELED' as const, 'ERROR' as const).chain((end) =>
      fc.uniqueArray(
        fc.record(
          {
            second: fc.integer({ min: 1, max: 59 }),
            status: fc.constantFrom('PENDING', 'RUNNING', 'PAUSED', 'CANCELING', end),
            tags: fc.subarray(['a', 'b', 'c']),
            open: fc.constant(false as const),
            end_datetime: fc.constantFrom(at(5), at(6)),
          },
          { requiredKeys: ['second'] },
        ),
        { selector: ({ second }) => second, maxLength: 8 },
      ),
    );
    const outcome = (events: readonly ({ second: number } & BatchUpdate)[]) => {
      const { rev, ...last } = events.reduce((before, { second, ...update }) => byEvent(before, update, second), row);
      return last;
    };
    const shuffled = history.chain((events) =>
      fc.tuple(fc.constant(events), fc.shuffledSubarray(events, { minLength: events.length })),
    );
    fc.assert(
      fc.property(shuffled, ([events, order]) => {
        expect(outcome(order)).toEqual(outcome(events));
        expect(outcome([...order, ...events])).toEqual(outcome(events));
      }),
      { numRuns: cases(500, 5_000), seed },
    );
  });
});

const batchEnds = ['DONE', 'CANCELED', 'TIMED_OUT', 'ERROR'];
const batchMoves: Readonly<Record<BatchStatus, readonly string[]>> = {
  PENDING: ['RUNNING', 'PAUSED', 'CANCELING', ...batchEnds],
  RUNNING: ['PAUSED', 'CANCELING', ...batchEnds],
  PAUSED: ['RUNNING', 'CANCELING', ...batchEnds],
  CANCELING: batchEnds,
  DONE: [],
  CANCELED: [],
  TIMED_OUT: [],
  ERROR: [],
};
const jobEnds = ['DONE', 'ERROR', 'CANCELED'];
const jobMoves: Readonly<Record<JobStatus, readonly string[]>> = {
  PENDING: ['RUNNING', 'CANCELING', ...jobEnds],
  RUNNING: ['CANCELING', ...jobEnds],
  CANCELING: jobEnds,
  DONE: [],
  ERROR: [],
  CANCELED: [],
};

describe('statusMove', () => {
  it.each(BatchStatus.options)('lets a batch that is %s move forward only', (from) => {
    const reached = BatchStatus.options.filter(
      (to) => statusMove(batchStatuses, { current: from, next: to, isOlder: false }) === 'moves',
    );
    expect(reached.sort()).toEqual(batchMoves[from].toSorted());
  });

  it.each(JobStatus.options)('lets a job that is %s move forward only', (from) => {
    const reached = JobStatus.options.filter(
      (to) => statusMove(jobStatuses, { current: from, next: to, isOlder: false }) === 'moves',
    );
    expect(reached.sort()).toEqual(jobMoves[from].toSorted());
  });

  it('distinguishes a repetition, a status that is behind, and a second end', () => {
    expect(statusMove(batchStatuses, { current: 'DONE', next: 'DONE', isOlder: true })).toBe('same');
    expect(statusMove(batchStatuses, { current: 'CANCELING', next: 'RUNNING', isOlder: false })).toBe('behind');
    expect(statusMove(batchStatuses, { current: 'DONE', next: 'CANCELING', isOlder: false })).toBe('behind');
    expect(statusMove(batchStatuses, { current: 'DONE', next: 'ERROR', isOlder: false })).toBe('illegal');
    expect(statusMove(jobStatuses, { current: 'CANCELED', next: 'DONE', isOlder: true })).toBe('illegal');
  });

  it('lets an older update move a status to a later stage, but not within one', () => {
    expect(statusMove(batchStatuses, { current: 'RUNNING', next: 'CANCELED', isOlder: true })).toBe('moves');
    expect(statusMove(batchStatuses, { current: 'RUNNING', next: 'PAUSED', isOlder: true })).toBe('behind');
  });
});
