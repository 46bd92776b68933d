import { describe, expect, it } from 'vitest';
import { shotsColumn } from '../../../../functions/console/entry/cell-values.ts';
import { groupFaults, nameJobs } from '../../../../functions/console/entry/fault-groups.ts';
import { stretchesOf } from '../../../../functions/console/entry/shown-rows.ts';

const fault = (msg: string, ...place: (string | number)[]) => ({ loc: ['body', ...place], msg });

describe('groups of faults', () => {
  it('are one for each kind and column, whatever their numbers', () => {
    expect(
      groupFaults([
        fault('12.75 is over 12.57', 'jobs', 50, 'variables', 'omega'),
        fault('13 is over 12.57', 'jobs', 51, 'variables', 'omega'),
        fault('13 is over 12.57', 'jobs', 51, 'variables', 't'),
        fault('Too many', 'jobs', 3, 'runs'),
        fault('No', 'jobs', 4),
        fault('No', 'tags', 0),
      ]),
    ).toEqual([
      { column: 'omega', jobs: [50, 51], msg: '12.75 is over 12.57' },
      { column: 't', jobs: [51], msg: '13 is over 12.57' },
      { column: shotsColumn, jobs: [3], msg: 'Too many' },
      { column: '', jobs: [4], msg: 'No' },
    ]);
  });

  it('have a job once, though several elements of a value are at fault', () => {
    const elements = [0, 1].map((at) => fault('No', 'jobs', 2, 'variables', 'times', at));
    expect(groupFaults(elements)).toEqual([{ column: 'times', jobs: [2], msg: 'No' }]);
  });
});

describe('jobs by name', () => {
  it.each([
    [[2], 'job 3'],
    [[50, 51, 52, 53], 'jobs 51 to 54'],
    [[0, 1], 'jobs 1, 2'],
    [[0, 2, 4, 5, 6, 7], 'jobs 1, 3, 5 to 8'],
    [[0, 2, 4, 6, 8], '5 jobs: 1, 3, 5, 7 …'],
  ])('%j are %s', (jobs, name) => expect(nameJobs(jobs)).toBe(name));
});

describe('rows of a table', () => {
  const shown = (...given: Parameters<typeof stretchesOf>) =>
    stretchesOf(...given).map(({ first, end, isHidden }) => `${isHidden ? '…' : ''}${first}-${end}`);

  it('are all drawn where they are few', () => {
    expect(shown(1, [], [])).toEqual(['0-1']);
    expect(shown(24, [], [])).toEqual(['0-24']);
  });

  it('are folded where they are many, but for both ends and rows to be seen', () => {
    expect(shown(54, [], [])).toEqual(['0-4', '…4-52', '52-54']);
    expect(shown(54, [], [50, 51])).toEqual(['0-4', '…4-50', '50-54']);
    expect(shown(54, [{ first: 4, end: 52 }], [])).toEqual(['0-54']);
    expect(shown(5_000, [{ first: 4, end: 104 }], [])).toEqual(['0-104', '…104-4998', '4998-5000']);
  });

  it('fold no single row', () => {
    expect(shown(54, [{ first: 5, end: 52 }], [])).toEqual(['0-4', '4-5', '5-54']);
  });

  it('show a place that is no longer there as nothing', () => {
    expect(shown(3, [{ first: 40, end: 41 }], [90])).toEqual(['0-3']);
  });
});
