import { describe, expect, it } from 'vitest';
import { batchStages, jobStages, statusMove } from '../../../../functions/data/lifecycle/update-row.ts';
import { BatchStatus, JobStatus } from '../../../../functions/schemas/values.ts';

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
    const reached = BatchStatus.options.filter((to) => statusMove(batchStages, from, to, false) === 'moves');
    expect(reached.sort()).toEqual(batchMoves[from].toSorted());
  });

  it.each(JobStatus.options)('lets a job that is %s move forward only', (from) => {
    const reached = JobStatus.options.filter((to) => statusMove(jobStages, from, to, false) === 'moves');
    expect(reached.sort()).toEqual(jobMoves[from].toSorted());
  });

  it('tells a repetition, what is behind, and a second end', () => {
    expect(statusMove(batchStages, 'DONE', 'DONE', true)).toBe('same');
    expect(statusMove(batchStages, 'CANCELING', 'RUNNING', false)).toBe('behind');
    expect(statusMove(batchStages, 'DONE', 'CANCELING', false)).toBe('behind');
    expect(statusMove(batchStages, 'DONE', 'ERROR', false)).toBe('illegal');
    expect(statusMove(jobStages, 'CANCELED', 'DONE', true)).toBe('illegal');
  });

  it('lets an older word move a status to a later stage, but not within one', () => {
    expect(statusMove(batchStages, 'RUNNING', 'CANCELED', true)).toBe('moves');
    expect(statusMove(batchStages, 'RUNNING', 'PAUSED', true)).toBe('behind');
  });
});
